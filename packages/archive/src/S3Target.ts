import { createHash } from "node:crypto"
import { AwsClient } from "aws4fetch"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { ArchiveFault, type ArchiveFaultKind } from "./ArchiveFault.ts"
import type { ArchiveTarget } from "./ArchiveStore.ts"

/** How a bucket is reached; the standard variables AWS_*. */
export interface S3Access {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string | undefined
  readonly region: string
  /** Of a store that is not AWS: `https://minio.example:9000`. */
  readonly endpoint?: string | undefined
}

/** The bucket and the prefix of keys, which is empty or ends with a slash. */
export interface S3Location {
  readonly bucket: string
  readonly prefix: string
}

/** A request fails after this time. Milliseconds. */
const TIMEOUT_MS = 60_000
/** A request without an answer, or with one that says to try again, is repeated so often. */
const RETRIES = 2
const FIRST_PAUSE_MS = 200

/**
 * An archive below a prefix of a bucket. The store makes an object visible as a whole; the request states the digest of
 * the bytes, so an object that arrives with other bytes is refused.
 */
export const s3Target = ({ bucket, prefix }: S3Location, access: S3Access): ArchiveTarget => {
  const client = new AwsClient({
    ...{ accessKeyId: access.accessKeyId, secretAccessKey: access.secretAccessKey, service: "s3", retries: 0 },
    region: access.region,
    ...(access.sessionToken !== undefined && { sessionToken: access.sessionToken })
  })
  const root =
    access.endpoint === undefined
      ? `https://${bucket}.s3.${access.region}.amazonaws.com`
      : `${access.endpoint.replace(/\/+$/, "")}/${bucket}`
  const urlOf = (path: string) => `${root}/${`${prefix}${path}`.split("/").map(encoded).join("/")}`

  const send = (what: string, url: string, init: RequestInit, accepted: ReadonlyArray<number> = [200]) =>
    Effect.tryPromise({
      try: async (signal) => {
        const request = await client.sign(url, init)
        const response = await fetch(request, { signal })
        const bytes = new Uint8Array(await response.arrayBuffer())
        if (accepted.includes(response.status)) return { headers: response.headers, bytes }
        throw faultOf(what, response.status, new TextDecoder().decode(bytes))
      },
      catch: (cause) =>
        cause instanceof ArchiveFault
          ? cause
          : new ArchiveFault({ kind: "unreachable", message: `${what}: ${causeText(cause)}` })
    }).pipe(
      Effect.timeoutOrElse({
        duration: Duration.millis(TIMEOUT_MS),
        orElse: () =>
          Effect.fail(
            new ArchiveFault({ kind: "unreachable", message: `${what}: no answer within ${TIMEOUT_MS / 1_000} s` })
          )
      }),
      Effect.retry({
        times: RETRIES,
        schedule: Schedule.jittered(Schedule.exponential(FIRST_PAUSE_MS)),
        while: ({ kind }) => kind === "unreachable"
      })
    )

  const listPage = (keys: string, token: string | undefined) => {
    const after = token === undefined ? "" : `continuation-token=${encoded(token)}&`
    const query = `${after}list-type=2&prefix=${encoded(keys)}`
    return Effect.map(send(`list ${keys}`, `${root}?${query}`, { method: "GET" }), ({ bytes }) => {
      const xml = new TextDecoder().decode(bytes)
      return { keys: textsOf(xml, "Key"), next: textsOf(xml, "NextContinuationToken")[0] }
    })
  }

  return {
    url: `s3://${bucket}/${prefix}`.replace(/\/$/, ""),
    put: (path, bytes) => {
      const body = new Uint8Array(bytes)
      const digest = createHash("sha256").update(body).digest("hex")
      return Effect.asVoid(
        send(`put ${path}`, urlOf(path), {
          method: "PUT",
          body,
          headers: { "content-type": "application/vnd.apache.parquet", "x-amz-content-sha256": digest }
        })
      )
    },
    size: (path) =>
      Effect.map(send(`head ${path}`, urlOf(path), { method: "HEAD" }), ({ headers }) =>
        Number(headers.get("content-length"))
      ),
    read: (path, from, to) =>
      to <= from
        ? Effect.succeed(new Uint8Array())
        : Effect.flatMap(
            send(`get ${path}`, urlOf(path), { headers: { range: `bytes=${from}-${to - 1}` } }, [200, 206]),
            ({ bytes }) =>
              bytes.length === to - from
                ? Effect.succeed(bytes)
                : Effect.fail(
                    new ArchiveFault({ kind: "unreadable", message: `${path}: ${bytes.length} bytes of ${to - from}` })
                  )
          ),
    list: (below) =>
      Effect.gen(function* () {
        const found: Array<string> = []
        let token: string | undefined
        do {
          const page = yield* listPage(`${prefix}${below}`, token)
          found.push(...page.keys.map((key) => key.slice(prefix.length)))
          token = page.next
        } while (token !== undefined)
        return found.toSorted()
      }),
    remove: (path) => Effect.asVoid(send(`delete ${path}`, urlOf(path), { method: "DELETE" }, [200, 204, 404]))
  }
}

/** Encoded as the signature has it (RFC 3986): stores differ in how they read `+` and characters that may stay. */
const encoded = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)

/** The contents of these elements of a short answer without attributes. */
const textsOf = (xml: string, element: string): ReadonlyArray<string> =>
  [...xml.matchAll(new RegExp(`<${element}>([^<]*)</${element}>`, "g"))].map(([, text = ""]) => unescaped(text))

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" }

const unescaped = (text: string) =>
  text.replace(/&(?:#(\d+)|#x([\da-f]+)|(\w+));/gi, (whole, decimal, hex, name) => {
    if (decimal !== undefined) return String.fromCodePoint(Number(decimal))
    if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex, 16))
    return ENTITIES[name] ?? whole
  })

const KINDS: Readonly<Record<string, ArchiveFaultKind>> = {
  RequestTimeTooSkewed: "clock",
  ExpiredToken: "refused",
  InvalidToken: "refused",
  TokenRefreshRequired: "refused",
  NoSuchBucket: "missing",
  NoSuchKey: "missing",
  QuotaExceeded: "full",
  QuotaExceededException: "full",
  StorageFull: "full",
  XMinioStorageFull: "full",
  XMinioAdminBucketQuotaExceeded: "full",
  SlowDown: "unreachable",
  RequestTimeout: "unreachable",
  InternalError: "unreachable",
  ServiceUnavailable: "unreachable"
}

const STATUSES: Readonly<Record<number, ArchiveFaultKind>> = {
  401: "refused",
  403: "refused",
  404: "missing",
  408: "unreachable",
  429: "unreachable",
  507: "full"
}

/** The longest text of a store that a message quotes. */
const MOST_QUOTED = 300

const faultOf = (what: string, status: number, body: string): ArchiveFault => {
  const [code] = textsOf(body, "Code")
  const [message] = textsOf(body, "Message")
  const kind = KINDS[code ?? ""] ?? STATUSES[status] ?? (status >= 500 ? "unreachable" : "failed")
  const said = [code, message].filter((text) => text !== undefined).join(": ")
  return new ArchiveFault({
    kind,
    message: `${what}: ${said === "" ? `status ${status}` : said.slice(0, MOST_QUOTED)}`
  })
}

/** The reason of a failed fetch is in its cause. */
const causeText = (cause: unknown): string => {
  if (!(cause instanceof Error)) return String(cause)
  const { cause: inner } = cause
  if (inner instanceof AggregateError && inner.message === "") return inner.errors.map(String).join("; ")
  return inner instanceof Error ? inner.message : cause.message
}
