import { createHash } from "node:crypto"
import { existsSync, readFileSync } from "node:fs"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { extname, join } from "node:path"
import { fileURLToPath } from "node:url"
import {
  AnsweredItem,
  AnswerRequest,
  InboxChange,
  InboxItem,
  InboxPage,
  launcherError,
  Me,
  ReturnedItem,
  ReturnRequest
} from "@runplane/api"
import { proposalHash, type Sha256 } from "@runplane/domain"
import * as Schema from "effect/Schema"

const DIST = fileURLToPath(new URL("../../../dist/", import.meta.url))
const TYPES: Readonly<Record<string, string>> = {
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2"
}

export const NONCE = "nonce-of-the-page"

const sha256: Sha256 = (...parts) => {
  const hash = createHash("sha256")
  for (const part of parts) hash.update(part)
  return hash.digest()
}

/** A text field of protobuf with a number below 16 and a text below 128 bytes. */
const field = (number: number, text: string) => {
  const bytes = Buffer.from(text)
  return Buffer.concat([Buffer.from([(number << 3) | 2, bytes.length]), bytes])
}

/** An open question with three evaluations, as the service answers it. */
export const question = (
  option = "Fail checkout over to eu-west now?",
  changes: Partial<InboxItem> = {}
): InboxItem => {
  const bytes = Buffer.concat([field(1, "p1"), field(2, option), field(3, "us-east has lost two of three zones.")])
  const id = changes.id ?? "0197c0de-6f0a-7c53-9a56-0d9c6f5f7a10"
  const hashed = {
    sessionId: "8d5a3f0c-93d4-4c4e-9d60-5c7f1c2a7e10",
    mode: "macp.mode.decision.v1",
    modeVersion: "1.0.0",
    configurationVersion: "config.default",
    policyVersion: "policy.incident.balanced",
    policyHash: "ab".repeat(32),
    participants: ["incident-commander", "replication-analyst", "impact-analyst", "risk-officer"],
    subject: {
      messageId: "m-1",
      sender: "incident-commander",
      type: "Proposal",
      payloadSha256: Buffer.from(sha256(bytes)).toString("hex"),
      nonce: "cd".repeat(32)
    }
  }
  return {
    id,
    sessionId: hashed.sessionId,
    seat: "risk-officer",
    scenarioRef: "incident/region-failover@1.1.0",
    mode: "decision",
    modeName: "macp.mode.decision.v1",
    state: "open",
    title: option,
    proposalHash: proposalHash(sha256, hashed),
    createdAt: new Date(Date.now() - 90_000).toISOString(),
    openedAt: new Date(Date.now() - 30_000).toISOString(),
    deadlineAt: new Date(Date.now() + 14 * 60_000).toISOString(),
    payload: {
      type: "macp.modes.decision.v1.ProposalPayload",
      base64: bytes.toString("base64"),
      decoded: { proposalId: "p1", option, rationale: "us-east has lost two of three zones." }
    },
    hashed,
    assigned: [{ to: "person:ann" }],
    returns: [],
    escalations: [],
    delegations: [],
    mayAnswer: true,
    reasonRule: "required",
    proof: { needed: "session", given: "session" },
    acts: ["approve", "reject", "abstain"],
    basis: { ordinal: 5, sha256: "ef".repeat(32), withheld: [] },
    messages: [
      {
        ordinal: 3,
        by: "replication-analyst",
        type: "Evaluation",
        recommendation: "APPROVE",
        confidence: 0.86,
        reason: "The replica is 2 s behind."
      },
      {
        ordinal: 4,
        by: "impact-analyst",
        type: "Evaluation",
        recommendation: "REVIEW",
        confidence: 0.55,
        reason: "Payments of 3 minutes may be lost."
      },
      { ordinal: 5, by: "impact-analyst", type: "Vote", vote: "APPROVE" }
    ],
    consequences: [
      { act: "approve", positive: "met", negative: "impossible" },
      { act: "reject", positive: "impossible", negative: "met" },
      { act: "abstain", positive: "possible", negative: "possible" }
    ],
    policy: {
      version: "policy.incident.balanced",
      lines: ["The rule for the votes: two thirds of the votes.", "A critical objection stops the decision."]
    },
    nonce: NONCE,
    ...changes
  }
}

/** What an answer of the service is: its status and its body. */
export type Answer = readonly [status: number, body: unknown]

type Failed = ReturnType<typeof launcherError>

/** An error as the service sends it. */
export const failed = (status: number, ...error: Parameters<typeof launcherError>): Answer => {
  const { errorCode, message, metadata }: Failed & { readonly metadata?: unknown } = launcherError(...error)
  return [status, { statusCode: status, errorCode, message, ...(metadata !== undefined && { metadata }) }]
}

const encodeItem = Schema.encodeSync(InboxItem)
const encodePage = Schema.encodeSync(InboxPage)
const encodeAnswered = Schema.encodeSync(AnsweredItem)
const encodeMe = Schema.encodeSync(Me)
const encodeChange = Schema.encodeSync(InboxChange)
const encodeReturned = Schema.encodeSync(ReturnedItem)
const readReturn = Schema.decodeUnknownSync(Schema.fromJsonString(ReturnRequest))
const readAnswer = Schema.decodeUnknownSync(Schema.fromJsonString(AnswerRequest))

/** The contract of the inbox over items that a test sets, with the built page. */
export const startInbox = async () => {
  let items: ReadonlyArray<InboxItem> = []
  let isSignedIn = true
  let isAway = false
  let isStreaming = true
  const streams = new Set<ServerResponse>()
  /** What the service sends when an item has changed. */
  const notify = () => {
    for (const item of items) {
      const data = JSON.stringify(encodeChange({ change: "changed", item }))
      for (const stream of streams) stream.write(`event: item\ndata: ${data}\n\n`)
    }
  }
  const endStreams = () => {
    for (const stream of streams) stream.end()
    streams.clear()
  }
  let refusal: Answer | undefined
  const posted: Array<{ readonly path: string; readonly body: unknown; readonly nonce: unknown }> = []
  const answers: Array<{
    readonly answer: AnswerRequest
    readonly nonce: string | undefined
    readonly origin: string | undefined
  }> = []

  const bodyOf = async (request: IncomingMessage) => {
    const chunks: Array<Buffer> = []
    for await (const chunk of request) chunks.push(chunk)
    return Buffer.concat(chunks).toString()
  }

  const returned = async (request: IncomingMessage, item: InboxItem): Promise<Answer> => {
    const body = readReturn(await bodyOf(request))
    posted.push({ path: "return", body, nonce: request.headers["x-page-nonce"] })
    if (refusal !== undefined) return refusal
    const { reason, to } = body
    const at = new Date().toISOString()
    const returns = [...item.returns, { by: "ann", at, reason, ...(to !== undefined && { to }) }]
    const assigned = to === undefined ? item.assigned : [...item.assigned, { to, by: "ann", at, reason }]
    items = items.map((one) => (one.id === item.id ? { ...item, returns, assigned } : one))
    return [200, encodeReturned({ id: item.id, assigned, returns })]
  }

  const answered = async (request: IncomingMessage, item: InboxItem): Promise<Answer> => {
    const answer = readAnswer(await bodyOf(request))
    const nonce = request.headers["x-page-nonce"]
    answers.push({ answer, nonce: typeof nonce === "string" ? nonce : undefined, origin: request.headers.origin })
    if (refusal !== undefined) return refusal
    const { basis, proposalHash: hash, ...content } = answer
    if (hash !== item.proposalHash || basis.ordinal !== item.basis?.ordinal) throw new Error("another basis")
    const given = { by: "ann", at: new Date().toISOString(), content }
    const { acts: _, ...before } = item
    items = items.map((one) => (one.id === item.id ? { ...before, acts: [], state: "answered", given } : one))
    return [200, encodeAnswered({ id: item.id, state: "answered", given })]
  }

  const api = async (request: IncomingMessage, url: URL): Promise<Answer> => {
    if (!isSignedIn) return [401, { statusCode: 401, message: "Missing Authorization header", error: "Unauthorized" }]
    if (isAway) return failed(503, "DATABASE_UNAVAILABLE", "the database of the inbox does not answer")
    if (url.pathname === "/me")
      return [200, encodeMe({ id: "user:ann", name: "user:ann", type: "user", role: "voter" })]
    if (url.pathname === "/inbox") {
      const states = (url.searchParams.get("state") ?? "").split(",")
      const data = items.filter(({ state }) => states.includes(state))
      return [200, encodePage({ data, limit: 100 })]
    }
    const item = items.find(({ id }) => url.pathname.startsWith(`/inbox/${id}`))
    if (item === undefined) return failed(404, "ITEM_NOT_FOUND", "no item has the id")
    if (request.method !== "POST") return [200, encodeItem(item)]
    return url.pathname.endsWith("/return") ? returned(request, item) : answered(request, item)
  }

  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://127.0.0.1")
    if (request.headers.accept?.includes("text/html") === true) {
      const way = url.pathname === "/inbox" ? "inbox/" : "./"
      const page = readFileSync(join(DIST, "inbox.html"), "utf8").replace(/(?<= (?:href|src)=")\.\//g, way)
      response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(page)
      return
    }
    const file = join(DIST, url.pathname.replace(/^\/inbox\//, ""))
    if (/^\/inbox\/(assets\/|favicon)/.test(url.pathname) && existsSync(file)) {
      response.writeHead(200, { "content-type": TYPES[extname(file)] ?? "text/plain" }).end(readFileSync(file))
      return
    }
    if (url.pathname === "/inbox/stream" && isStreaming && isSignedIn && !isAway) {
      response.writeHead(200, { "content-type": "text/event-stream" })
      response.write(`event: ready\ndata: {"continued":false}\n\n`)
      streams.add(response)
      response.on("close", () => streams.delete(response))
      return
    }
    api(request, url).then(
      ([status, body]) => response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body)),
      (error: unknown) => response.writeHead(500).end(String(error))
    )
  })
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening))
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("the service listens on a port")
  return {
    url: `http://127.0.0.1:${address.port}`,
    answers,
    posted,
    set: (next: ReadonlyArray<InboxItem>) => {
      items = next
      notify()
    },
    change: (id: string, changes: Partial<InboxItem>) => {
      items = items.map((item) => (item.id === id ? { ...item, ...changes } : item))
      notify()
    },
    streaming: (is: boolean) => {
      isStreaming = is
      if (!is) endStreams()
    },
    signedIn: (is: boolean) => {
      isSignedIn = is
      if (!is) endStreams()
    },
    away: (is: boolean) => {
      isAway = is
      if (is) endStreams()
    },
    refuseWith: (answer: Answer | undefined) => {
      refusal = answer
    },
    close: () => {
      server.closeAllConnections()
      server.close()
    }
  }
}
