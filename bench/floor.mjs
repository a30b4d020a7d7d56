/** The least that any server on node:http costs: it parses a body, builds an answer of the usual size and sends it. Nothing is kept. */

import { createServer } from 'node:http'

const server = createServer((request, response) => {
  const pieces = []
  request.on('data', (piece) => pieces.push(piece))
  request.on('end', () => {
    const { id, params } = JSON.parse(Buffer.concat(pieces).toString())
    const { messageId, role, parts } = params.message
    const ids = { taskId: crypto.randomUUID(), contextId: crypto.randomUUID() }
    const task = {
      id: ids.taskId,
      contextId: ids.contextId,
      status: { state: 'TASK_STATE_COMPLETED', timestamp: new Date().toISOString() },
      artifacts: [{ artifactId: 'result', name: 'result', parts: [{ text: `echo: ${parts[0].text}` }] }],
      history: [{ messageId, ...ids, role, parts }],
    }
    const body = JSON.stringify({ jsonrpc: '2.0', id, result: { task } })
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
    response.end(body)
  })
})
server.listen(0, '127.0.0.1', () => process.send({ url: `http://127.0.0.1:${server.address().port}` }))
process.on('disconnect', () => process.exit(0))
