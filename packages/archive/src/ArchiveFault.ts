import * as Data from "effect/Data"

/**
 * Why an operation on an archive failed:
 *
 * - `full`: no space is left on the device, or the quota is used up;
 * - `refused`: the credentials or their rights do not allow it;
 * - `clock`: the clock of this machine differs too much from the store's;
 * - `unreachable`: no answer, or one that says to try again;
 * - `missing`: the file, the directory or the bucket does not exist;
 * - `unreadable`: a file is not one of the archive, or was changed;
 * - `failed`: anything else.
 */
export type ArchiveFaultKind = "full" | "refused" | "clock" | "unreachable" | "missing" | "unreadable" | "failed"

export class ArchiveFault extends Data.TaggedError("ArchiveFault")<{
  readonly kind: ArchiveFaultKind
  readonly message: string
}> {}
