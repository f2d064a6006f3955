import { createHash, createHmac } from "node:crypto"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import * as Effect from "effect/Effect"
import { listening } from "./Loopback.ts"

/** The credentials that the server accepts. */
export const S3_CREDENTIALS = { accessKeyId: "test-key", secretAccessKey: "test-secret" }

/** How a request is disturbed: an error of the store, a connection that is cut, or no answer at all. */
export type S3Fault = { readonly status: number; readonly code: string } | "cut" | "silent"

export interface S3Server {
  readonly endpoint: string
  readonly objects: Map<string, Uint8Array>
  /** `METHOD /bucket/key` of every request, in order. */
  readonly requests: Array<string>
  /** Disturbs the requests that it returns a fault for. */
  disturb: (request: string) => S3Fault | undefined
  /** How far the clock of the server is ahead. Milliseconds. */
  aheadMs: number
}

const MOST_SKEW_MS = 15 * 60_000
/** Keys of a page of a list. */
const PAGE = 3

/**
 * A store with the part of S3's protocol that the archive uses: signature version 4 by its specification, digests of
 * bodies, the check of the clock, pages of lists. In memory, on a port of its own, with one bucket `bucket`.
 */
export const startS3Server = Effect.gen(function* () {
  const store: S3Server = {
    ...{ endpoint: "", objects: new Map(), requests: [], aheadMs: 0 },
    disturb: () => undefined
  }
  const server = createServer((request, response) => {
    const parts: Array<Buffer> = []
    request.on("data", (part: Buffer) => parts.push(part))
    request.on("end", () => answer(store, request, response, Buffer.concat(parts)))
  })
  const port = yield* listening(server)
  return Object.assign(store, { endpoint: `http://127.0.0.1:${port}` })
})

const answer = (store: S3Server, request: IncomingMessage, response: ServerResponse, body: Buffer) => {
  const url = new URL(request.url ?? "/", "http://store")
  const key = decodeURIComponent(url.pathname)
  const name = `${request.method} ${key}`
  store.requests.push(name)
  const fail = (status: number, code: string) => {
    response.writeHead(status, { "content-type": "application/xml" })
    response.end(
      request.method === "HEAD" ? undefined : `<Error><Code>${code}</Code><Message>${code} here</Message></Error>`
    )
  }
  const fault = store.disturb(name)
  if (fault === "silent") return
  if (fault === "cut") return request.socket.destroy()
  if (fault !== undefined) return fail(fault.status, fault.code)
  const problem = problemOf(request, url, body, Date.now() + store.aheadMs)
  if (problem !== undefined) return fail(403, problem)
  if (!key.startsWith("/bucket")) return fail(404, "NoSuchBucket")
  const object = store.objects.get(key)
  switch (request.method) {
    case "PUT":
      store.objects.set(key, new Uint8Array(body))
      return response.end()
    case "DELETE":
      store.objects.delete(key)
      response.writeHead(204)
      return response.end()
    case "HEAD":
    case "GET":
      if (url.searchParams.get("list-type") === "2") return response.end(listOf(store, url.searchParams))
      return object === undefined ? fail(404, "NoSuchKey") : sendObject(request, response, object)
    default:
      return fail(405, "MethodNotAllowed")
  }
}

const sendObject = (request: IncomingMessage, response: ServerResponse, object: Uint8Array) => {
  const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "") ?? []
  const part = from === undefined || to === undefined ? object : object.subarray(Number(from), Number(to) + 1)
  response.writeHead(from === undefined ? 200 : 206, { "content-length": part.length })
  response.end(request.method === "HEAD" ? undefined : part)
}

const listOf = ({ objects }: S3Server, query: URLSearchParams) => {
  const prefix = `/bucket/${query.get("prefix") ?? ""}`
  const after = query.get("continuation-token") ?? ""
  const keys = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after).toSorted()
  const page = keys.slice(0, PAGE)
  const next = keys.length > PAGE ? `<NextContinuationToken>${escaped(page.at(-1) ?? "")}</NextContinuationToken>` : ""
  const contents = page
    .map((key) => `<Contents><Key>${escaped(key.slice("/bucket/".length))}</Key></Contents>`)
    .join("")
  return `<?xml version="1.0"?><ListBucketResult>${contents}${next}</ListBucketResult>`
}

const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll("'", "&#39;")

const sha256 = (data: string | Buffer) => createHash("sha256").update(data).digest("hex")
const hmac = (key: string | Buffer, data: string) => createHmac("sha256", key).update(data).digest()

/** Encoded by RFC 3986, which keeps fewer characters than the functions of the language. */
const encodedAgain = (text: string) =>
  encodeURIComponent(decodeURIComponent(text)).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`
  )

/** Why the request is refused, by signature version 4. */
const problemOf = (request: IncomingMessage, url: URL, body: Buffer, now: number): string | undefined => {
  const header = (name: string) => String(request.headers[name] ?? "")
  const parsed =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=(\w+)$/.exec(
      header("authorization")
    )
  if (parsed === null) return "AccessDenied"
  const [, keyId, day = "", region = "", signed = "", signature] = parsed
  if (keyId !== S3_CREDENTIALS.accessKeyId) return "InvalidAccessKeyId"
  const date = header("x-amz-date")
  const at = Date.parse(date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"))
  if (!(Math.abs(at - now) <= MOST_SKEW_MS)) return "RequestTimeTooSkewed"
  const digest = header("x-amz-content-sha256")
  if (digest !== "UNSIGNED-PAYLOAD" && digest !== sha256(body)) return "XAmzContentSHA256Mismatch"
  // By the text: a `+` is not a space here.
  const query = url.search
    .slice(1)
    .split("&")
    .map((pair) => pair.split("=").map(encodedAgain).join("="))
    .toSorted()
    .join("&")
  const headers = signed.split(";").map((name) => `${name}:${header(name).trim().replace(/ +/g, " ")}\n`)
  const path = url.pathname.split("/").map(encodedAgain).join("/")
  const canonical = [request.method, path, query, headers.join(""), signed, digest].join("\n")
  const scope = `${day}/${region}/s3/aws4_request`
  const toSign = ["AWS4-HMAC-SHA256", date, scope, sha256(canonical)].join("\n")
  const key = hmac(hmac(hmac(hmac(`AWS4${S3_CREDENTIALS.secretAccessKey}`, day), region), "s3"), "aws4_request")
  return hmac(key, toSign).toString("hex") === signature ? undefined : "SignatureDoesNotMatch"
}
