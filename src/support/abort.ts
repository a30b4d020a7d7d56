/** Signals that are handed to somebody else's code. */

type Listener = EventListenerOrEventListenerObject | null

/**
 * The signal of a controller of its own, whose listeners may throw: what they throw goes to `onThrow`. Node.js takes an
 * error out of a listener for one that nobody caught, and ends the process with it.
 */
export function guardedSignal(source: AbortSignal, onThrow: (error: unknown) => void): AbortSignal {
  const controller = new AbortController()
  const { signal } = controller
  const guarded = new WeakMap<object, EventListener>()

  function guard(listener: Listener): EventListener | null {
    if (listener === null) return null
    const known = guarded.get(listener)
    if (known) return known
    const made = (event: Event) => {
      try {
        if (typeof listener === 'function') listener.call(signal, event)
        else listener.handleEvent(event)
      } catch (error) {
        onThrow(error)
      }
    }
    guarded.set(listener, made)
    return made
  }

  const { addEventListener, removeEventListener } = signal
  // null is no listener to either of them, and both take it.
  const passed = (listener: Listener) => guard(listener) as EventListener
  let onabort: Listener = null
  Object.defineProperties(signal, {
    addEventListener: {
      value: (type: string, listener: Listener, options?: AddEventListenerOptions) =>
        addEventListener.call(signal, type, passed(listener), options),
    },
    removeEventListener: {
      value: (type: string, listener: Listener, options?: EventListenerOptions) =>
        removeEventListener.call(signal, type, passed(listener), options),
    },
    onabort: {
      get: () => onabort,
      set(listener: Listener) {
        if (onabort) signal.removeEventListener('abort', onabort)
        onabort = typeof listener === 'function' ? listener : null
        if (onabort) signal.addEventListener('abort', onabort)
      },
    },
  })
  if (source.aborted) controller.abort(source.reason)
  else source.addEventListener('abort', () => controller.abort(source.reason), { once: true })
  return signal
}
