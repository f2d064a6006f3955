import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"

/** The official TypeScript client on an endpoint. */

export const CURRENT = "2026-07-28"
export const PREVIOUS = "2025-11-25"

/** A call that the client rejected. */
export class ClientFailed extends Data.TaggedError("ClientFailed")<{ readonly cause: unknown }> {
  override get message() {
    return this.cause instanceof Error ? this.cause.message : JSON.stringify(this.cause)
  }
}

const attempt = <A>(call: () => Promise<A>) =>
  Effect.tryPromise({ try: call, catch: (cause) => new ClientFailed({ cause }) })

export interface ClientOptions {
  readonly revision?: typeof CURRENT | typeof PREVIOUS
  readonly key?: string
  /** What a person answers to a form; a client without it cannot show forms. */
  readonly person?: (message: string) => Record<string, unknown> | undefined
}

/** The parts of an answer that tests read. */
export interface Called {
  readonly isError: boolean
  readonly text: string
  /** Of the type that the parser returns, so that tests can read its fields. */
  readonly content: ReturnType<typeof JSON.parse>
  /** Bytes of text and structured content together. */
  readonly bytes: number
}

const byteLength = (text: string) => Buffer.byteLength(text)

/** A connected client; it ends with the scope. */
export const connect = Effect.fnUntraced(function* (
  url: string,
  { key, person, revision = CURRENT }: ClientOptions = {}
) {
  const client = new Client(
    { name: "test-client", version: "1.2.3" },
    {
      capabilities: person === undefined ? {} : { elicitation: { form: {} } },
      versionNegotiation: { mode: revision === CURRENT ? { pin: CURRENT } : "legacy" }
    }
  )
  if (person !== undefined) {
    client.setRequestHandler("elicitation/create", ({ params }) => {
      const content = person(params.message)
      return content === undefined
        ? { action: "decline" as const }
        : { action: "accept" as const, content: content as never }
    })
  }
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` }
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } })
  yield* Effect.acquireRelease(
    attempt(() => client.connect(transport)),
    () => Effect.promise(() => client.close())
  )
  const call = (name: string, input: Record<string, unknown> = {}) =>
    Effect.map(
      attempt(() => client.callTool({ name, arguments: input })),
      ({ content, isError, structuredContent }): Called => {
        const text = content.map((part) => (part.type === "text" ? part.text : "")).join("")
        const structured = structuredContent ?? {}
        return {
          isError: isError === true,
          text,
          content: structured,
          bytes: byteLength(text) + byteLength(JSON.stringify(structured))
        }
      }
    )
  return { client, call, attempt }
})
