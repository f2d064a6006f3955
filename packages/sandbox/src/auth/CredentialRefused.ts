import * as Data from "effect/Data"

/** The credential is missing, unknown or malformed: UNAUTHENTICATED on every channel. */
export class CredentialRefused extends Data.TaggedError("CredentialRefused")<{ readonly message: string }> {}
