import type { PlatformError } from "effect/PlatformError"

/**
 * Why a file that a setting names cannot be read, without its path: the message that names the file says this once. The
 * text of the platform repeats the path and the name of the call.
 */
export const fileProblem = ({ reason }: PlatformError): string => {
  switch (reason._tag) {
    case "NotFound":
      return "it does not exist"
    case "PermissionDenied":
      return "this user may not read it"
    default:
      return `it cannot be read (${reason._tag})`
  }
}
