import { fileURLToPath } from "node:url"
import * as Result from "effect/Result"
import { ArchiveFault } from "./ArchiveFault.ts"
import type { ArchiveTarget } from "./ArchiveStore.ts"
import { fileTarget } from "./FileTarget.ts"
import { type S3Access, s3Target } from "./S3Target.ts"

/** What a bucket needs beside its address; every member may be absent for a directory. */
export type ArchiveAccess = { readonly [Name in keyof S3Access]?: S3Access[Name] | undefined }

const DEFAULT_REGION = "us-east-1"

const refused = (message: string) => Result.fail(new ArchiveFault({ kind: "failed", message }))

/** The target of `file:///directory` or `s3://bucket/prefix`; says what is wrong with an address. */
export const archiveTarget = (url: string, access: ArchiveAccess): Result.Result<ArchiveTarget, ArchiveFault> => {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (parsed?.protocol === "file:") {
    if (parsed.host !== "") return refused(`${url} names a host: write file:///directory`)
    return Result.map(
      Result.try({
        try: () => fileURLToPath(parsed),
        catch: () => new ArchiveFault({ kind: "failed", message: `${url} does not name a directory` })
      }),
      (path) => fileTarget(path.length > 1 ? path.replace(/\/+$/, "") : path)
    )
  }
  if (parsed?.protocol !== "s3:" || parsed.host === "") {
    return refused(`${url} is not an archive: expected file:///directory or s3://bucket/prefix`)
  }
  const { accessKeyId, secretAccessKey } = access
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    return refused(`${url} needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY`)
  }
  const path = decodeURIComponent(parsed.pathname).replace(/^\/+|\/+$/g, "")
  return Result.succeed(
    s3Target(
      { bucket: parsed.host, prefix: path === "" ? "" : `${path}/` },
      { ...access, accessKeyId, secretAccessKey, region: access.region ?? DEFAULT_REGION }
    )
  )
}
