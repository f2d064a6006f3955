import * as Data from "effect/Data"

/** No such session: gRPC NOT_FOUND. */
export class SessionNotFound extends Data.TaggedError("SessionNotFound")<{ readonly sessionId: string }> {
  override get message() {
    return `session ${this.sessionId} not found`
  }
}

/** The caller is known but may not do this: gRPC PERMISSION_DENIED. */
export class CallForbidden extends Data.TaggedError("CallForbidden")<{ readonly detail: string }> {
  override get message() {
    return `FORBIDDEN: ${this.detail}`
  }
}

/** The request itself is malformed: gRPC INVALID_ARGUMENT. */
export class ArgumentInvalid extends Data.TaggedError("ArgumentInvalid")<{ readonly message: string }> {}

export type KernelFailure = SessionNotFound | CallForbidden | ArgumentInvalid
