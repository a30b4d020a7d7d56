/** Defects of delivery: what a server posts is changed on its way out. */

import { isMembers, parsed, put, textAt } from '../json.js'
import { type Defect, defect } from './defect.js'
import { isOf, onResult, resultOf, resultReply } from './seam.js'
import type { OpenPost } from './webhooks.js'

type Opened = ReturnType<OpenPost>
type Post = Opened['post']
type Request = Parameters<Post>[0]

const isEnd = ({ body }: Request) => /TASK_STATE_(COMPLETED|FAILED|CANCELED|REJECTED)/.test(body)

/** The task as it is, for a configuration that was made by its own operation. */
const isOpening = ({ body }: Request) => body.startsWith('{"task":')

/** A defect between the outbox and the wire. */
function posts(
  id: string,
  section: string,
  check: string,
  what: string,
  create: () => (request: Request, post: (request: Request) => Promise<number>) => Promise<number>,
): Defect {
  return {
    id,
    what,
    section,
    caughtBy: [check],
    plant: {
      options: ({ openPost }) => {
        if (!openPost) return {}
        const change = create()
        return {
          openPost: (options) => {
            const opened = openPost(options)
            return { ...opened, post: (request, signal) => change(request, (changed) => opened.post(changed, signal)) }
          },
        }
      },
    },
  }
}

const without = (request: Request, name: string): Request => ({
  ...request,
  headers: Object.fromEntries(Object.entries(request.headers).filter(([one]) => one.toLowerCase() !== name)),
})

const taken = 200

/** Two seams that know of each other: a post that was refused, and the task that it was about. */
function downHoldsUp(): Defect {
  const refused = posts('webhook_holds_up_task', '3.5.2', 'P38', 'A task is not seen to end while its webhook is down.', () => {
    const answers = new Map<string, number>()
    down.clear()
    return async (request, post) => {
      const status = await post(request)
      const count = (answers.get(request.url) ?? 0) + 1
      answers.set(request.url, count)
      if (status === 503 && count > 1) down.add(/"(?:taskId|id)":"([^"]+)"/.exec(request.body)?.[1] ?? '')
      return status
    }
  })
  const down = new Set<string>()
  const layer = () => onResult('GetTask', (task) => (down.has(textAt(task, 'id')) ? put(task, 'status.state', 'TASK_STATE_WORKING') : task))
  return { ...refused, plant: { ...refused.plant, layer } }
}

export const pushDefects: readonly Defect[] = [
  posts('end_not_pushed', '4.3.3', 'P30', 'The final state is not delivered to webhooks of a send.', () => {
    const own = new Set<string>()
    return async (request, post) => {
      if (isOpening(request)) own.add(request.url)
      return isEnd(request) && !own.has(request.url) ? taken : post(request)
    }
  }),
  posts(
    'push_without_credentials',
    '4.3.3',
    'P31',
    'Deliveries have no Authorization.',
    () => (request, post) => post(without(request, 'authorization')),
  ),
  posts(
    'push_as_text',
    '4.3.3',
    'P32',
    'Deliveries are text/plain.',
    () => (request, post) => post({ ...request, headers: { ...request.headers, 'content-type': 'text/plain' } }),
  ),
  posts('push_in_envelope', '4.3.3', 'P33', 'A status is delivered without its envelope.', () => (request, post) => {
    const body = parsed(request.body)
    const inside = isMembers(body) && textAt(body, 'statusUpdate.status.state') === 'TASK_STATE_WORKING' ? body['statusUpdate'] : undefined
    return post(inside === undefined ? request : { ...request, body: JSON.stringify(inside) })
  }),
  posts('push_out_of_order', '3.5.2', 'P34', 'What was delivered last is delivered again behind the end.', () => {
    const last = new Map<string, Request>()
    return async (request, post) => {
      const before = last.get(request.url)
      last.set(request.url, request)
      const status = await post(request)
      if (isEnd(request) && before !== undefined && !isEnd(before) && status === taken) await post(before)
      return status
    }
  }),
  posts('no_push_retry', '13.2', 'P35', 'A failed delivery is never tried again.', () => async (request, post) => {
    await post(request).catch(() => {})
    return taken
  }),
  posts(
    'push_only_from_sends',
    '3.1.7',
    'P36',
    'Webhooks that were made by their own operation are told the task as it is, and no more.',
    () => {
      const own = new Set<string>()
      return async (request, post) => {
        if (isOpening(request)) own.add(request.url)
        return own.has(request.url) && !isOpening(request) ? taken : post(request)
      }
    },
  ),
  defect('deleted_webhook_called', '3.1.10', 'P37', 'A webhook that was deleted is told all the same.', () => {
    const kept = new Set<string>()
    return async (incoming, next) => {
      const id = textAt(incoming.params, 'id')
      if (isOf(incoming, 'DeleteTaskPushNotificationConfig') && kept.has(id)) return resultReply(incoming, {})
      const reply = await next(incoming)
      if (textAt(incoming.params, 'url').includes('webhooks.example')) kept.add(textAt(resultOf(incoming, reply), 'id'))
      return reply
    }
  }),
  downHoldsUp(),
  posts('push_follows_redirects', '13.2', 'P39', 'A redirect of a webhook is followed.', () => async (request, post) => {
    const status = await post(request)
    // The one opened before is where it points to.
    const elsewhere = request.url.replace(/\d+$/, (number) => String(Number(number) - 1))
    return status === 307 ? post({ ...request, url: elsewhere }) : status
  }),
  posts('push_to_one_webhook', '4.3.3', 'P40', 'Of several webhooks of a task one is told.', () => {
    const first = new Map<string, string>()
    return async (request, post) => {
      const task = /"(?:taskId|id)":"([^"]+)"/.exec(request.body)?.[1] ?? ''
      const url = first.get(task) ?? request.url
      first.set(task, url)
      return url === request.url ? post(request) : taken
    }
  }),
  posts('push_names_other_task', '4.3.3', 'P41', 'Deliveries name another task.', () => (request, post) => {
    const body = parsed(request.body)
    const path = isMembers(body) && 'artifactUpdate' in body ? 'artifactUpdate.taskId' : undefined
    return post(path === undefined ? request : { ...request, body: JSON.stringify(put(body, path, 'another')) })
  }),
  posts(
    'push_without_token',
    '4.3.3',
    'P42',
    'Deliveries have no token.',
    () => (request, post) => post(without(request, 'x-a2a-notification-token')),
  ),
  posts('end_pushed_twice', '4.3.3', 'P43', 'A final state is delivered twice.', () => async (request, post) => {
    const status = await post(request)
    if (isEnd(request) && request.body.startsWith('{"statusUpdate"') && status === taken) await post(request)
    return status
  }),
]
