import { createServer } from "node:http"
import { pipeline, Readable } from "node:stream"
import type { RunState } from "@runplane/domain"
import type { Page } from "playwright-core"
import { longRun, numbered, projected, recordedEvents } from "./Served.ts"
import { ask, CONTROL_PLANE } from "./Stage.ts"

interface Size {
  readonly events: number
  /** Each so many events one has a text of so many characters. */
  readonly largeEvery: number
  readonly characters: number
}

const NOT_FOUND = { statusCode: 404, error: "NotFound", errorCode: "RUN_NOT_FOUND", message: "run not found" }

interface HugeRun {
  /** What the service says of the run after this many events. */
  readonly stateAfter: (count: number) => RunState
  /** Whether a repeated read is refused. */
  readonly refuse: (isRefused: boolean) => void
  readonly stop: () => void
}

/**
 * Serves a page a run of this size instead of another, piece by piece, since it is larger than what a test may
 * hold: its stream, its events from any index on, and its state at any index.
 */
export const serveHugeRun = async (page: Page, runId: string, size: Size): Promise<HugeRun> => {
  const events = numbered(longRun(await recordedEvents(runId), size.events))
  const grown = (event: (typeof events)[number]) => {
    if (event.index % size.largeEvery !== 0) return event
    const reason = "much to say ".repeat(size.characters / 12)
    return { ...event, data: { ...event.data, decodedPayload: { ...Object(event.data["decodedPayload"]), reason } } }
  }
  const stateAfter = (count: number): RunState => projected(runId, events.slice(0, count).map(grown))
  const whole = JSON.stringify(stateAfter(size.events))

  function* frames() {
    yield `event: snapshot\ndata: ${whole}\n\n`
    for (const event of events) {
      yield `event: canonical_event\nid: ${event.seq}\ndata: ${JSON.stringify(grown(event))}\n\n`
    }
  }
  const server = createServer((_, answer) => {
    answer.writeHead(200, { "content-type": "text/event-stream" })
    // The page may leave before the end.
    pipeline(Readable.from(frames()), answer, () => undefined)
  })
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening))
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("the server listens on a port")

  const { body } = await ask("GET", `${CONTROL_PLANE}/runs/${runId}`)
  const run = { ...body, lastEventIndex: events.length, lastEventSeq: events.length }
  const ofRun = `${CONTROL_PLANE}/runs/${runId}`
  await page.route(ofRun, (route) => route.fulfill({ json: run }))
  await page.route(`${ofRun}/stream*`, (route) => route.continue({ url: `http://127.0.0.1:${address.port}/` }))
  await page.route(`${ofRun}/events?*`, (route) => {
    const { searchParams } = new URL(route.request().url())
    const [after, limit] = [Number(searchParams.get("afterSeq")), Number(searchParams.get("limit"))]
    return route.fulfill({ json: events.slice(after, after + limit).map(grown) })
  })
  let isRefused = false
  await page.route(`${ofRun}/replay/state?*`, (route) =>
    isRefused
      ? route.fulfill({ status: 404, json: NOT_FOUND })
      : route.fulfill({ json: stateAfter(Number(new URL(route.request().url()).searchParams.get("seq"))) })
  )
  return {
    refuse: (next) => {
      isRefused = next
    },
    stateAfter,
    stop: () => {
      server.closeAllConnections()
      server.close()
    }
  }
}
