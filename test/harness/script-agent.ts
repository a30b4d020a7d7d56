/** An agent that does what the message says, so that a test needs no agent of its own. */

import { agent, artifact, chunk, completed, failed, inputRequired, rejected, working } from '../../src/index.js'

/**
 * The text is a line of words: `echo` (the default) → artifact result; `chunks N` → N chunks of the artifact `a`;
 * `ask` → a question, then `completed` with the answer; `reject`; `fail`; `throw`; `hold` → works until canceled or
 * told `go` in its inbox; `work` → the same, but in a step, which keeps its place; `slow MS` → waits by the server's clock; `note TEXT`; `whole NAME TEXT`; `remember K V` and
 * `recall K` for the memory of the context. `hello` is answered with a direct Message.
 */
export const scriptAgent = agent(
  {
    name: 'Script',
    description: 'Does what it is told.',
    answer: (turn) => (turn.text === 'hello' ? 'Hello yourself.' : undefined),
  },
  async function* (task) {
    const [word = '', first = '', ...rest] = task.text.split(' ')
    if (task.turn > 1 && word !== 'ask') return completed('Thank you.', { answer: task.text })
    switch (word) {
      case 'chunks': {
        const n = Number(first)
        for (let i = 0; i < n; i++) yield chunk('a', `chunk ${i};`, { last: i === n - 1 })
        return completed(`${n} chunks`)
      }
      case 'ask':
        return inputRequired('What is the answer?')
      case 'reject':
        return rejected('Not my line of work.')
      case 'fail':
        return failed('It could not be done.')
      case 'throw':
        throw new Error('secret detail at /etc/passwd')
      case 'hold': {
        yield working('holding')
        const message = await task.inbox.next()
        return completed('released', { by: message?.messageId ?? null })
      }
      case 'work':
        yield working('working')
        await task.step('work', () => task.inbox.next())
        return completed('released')
      case 'slow':
        yield working('waiting')
        await task.sleep(Number(first))
        return completed('waited')
      case 'note':
        yield working([first, ...rest].join(' '))
        return undefined
      case 'whole':
        yield artifact(first, rest.join(' '))
        return completed()
      case 'remember':
        task.context.set(first, rest.join(' '))
        return completed('remembered')
      case 'recall':
        return { value: task.context.get(first) ?? null }
      default:
        return `echo ${task.text}`
    }
  },
)
