/** How each error looks on each wire, in one table. Spec §3.3.2, §5.4. */

/** The looks of one error. */
export interface ErrorRow {
  /** `reason` of the google.rpc.ErrorInfo; what a client should tell errors apart by. */
  readonly reason: string
  /** -32000 is shared: there the HTTP status and the reason tell the rows apart. */
  readonly jsonRpc: number
  /** Name of the gRPC code, also `status` of an HTTP+JSON error. */
  readonly grpc: string
  readonly http: number
}

/** Every error that a peer may be shown, by the name of its class. */
export const errorTable = {
  TaskNotFoundError: { reason: 'TASK_NOT_FOUND', jsonRpc: -32001, grpc: 'NOT_FOUND', http: 404 },
  TaskNotCancelableError: { reason: 'TASK_NOT_CANCELABLE', jsonRpc: -32002, grpc: 'FAILED_PRECONDITION', http: 400 },
  PushNotificationNotSupportedError: { reason: 'PUSH_NOTIFICATION_NOT_SUPPORTED', jsonRpc: -32003, grpc: 'FAILED_PRECONDITION', http: 400 },
  UnsupportedOperationError: { reason: 'UNSUPPORTED_OPERATION', jsonRpc: -32004, grpc: 'FAILED_PRECONDITION', http: 400 },
  ContentTypeNotSupportedError: { reason: 'CONTENT_TYPE_NOT_SUPPORTED', jsonRpc: -32005, grpc: 'INVALID_ARGUMENT', http: 400 },
  InvalidAgentResponseError: { reason: 'INVALID_AGENT_RESPONSE', jsonRpc: -32006, grpc: 'INTERNAL', http: 500 },
  ExtendedAgentCardNotConfiguredError: {
    reason: 'EXTENDED_AGENT_CARD_NOT_CONFIGURED',
    jsonRpc: -32007,
    grpc: 'FAILED_PRECONDITION',
    http: 400,
  },
  ExtensionSupportRequiredError: { reason: 'EXTENSION_SUPPORT_REQUIRED', jsonRpc: -32008, grpc: 'FAILED_PRECONDITION', http: 400 },
  VersionNotSupportedError: { reason: 'VERSION_NOT_SUPPORTED', jsonRpc: -32009, grpc: 'FAILED_PRECONDITION', http: 400 },
  // The next two exist on the JSON wires only; INVALID_ARGUMENT is what HTTP+JSON needs as `status` beside 400.
  ParseError: { reason: 'PARSE_ERROR', jsonRpc: -32700, grpc: 'INVALID_ARGUMENT', http: 400 },
  InvalidRequestError: { reason: 'INVALID_REQUEST', jsonRpc: -32600, grpc: 'INVALID_ARGUMENT', http: 400 },
  MethodNotFoundError: { reason: 'METHOD_NOT_FOUND', jsonRpc: -32601, grpc: 'UNIMPLEMENTED', http: 404 },
  InvalidParamsError: { reason: 'INVALID_PARAMS', jsonRpc: -32602, grpc: 'INVALID_ARGUMENT', http: 400 },
  InternalError: { reason: 'INTERNAL', jsonRpc: -32603, grpc: 'INTERNAL', http: 500 },
  UnauthenticatedError: { reason: 'UNAUTHENTICATED', jsonRpc: -32000, grpc: 'UNAUTHENTICATED', http: 401 },
  PermissionDeniedError: { reason: 'PERMISSION_DENIED', jsonRpc: -32000, grpc: 'PERMISSION_DENIED', http: 403 },
  // 413 where one request is too large.
  ResourceExhaustedError: { reason: 'RESOURCE_EXHAUSTED', jsonRpc: -32000, grpc: 'RESOURCE_EXHAUSTED', http: 429 },
  UnavailableError: { reason: 'UNAVAILABLE', jsonRpc: -32000, grpc: 'UNAVAILABLE', http: 503 },
} as const satisfies Readonly<Record<string, ErrorRow>>

/** Name of a row and of its class. */
export type ErrorName = keyof typeof errorTable
