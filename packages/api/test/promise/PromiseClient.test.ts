import { assert, describe, it } from "@effect/vitest"
import { followRun, makeCalls } from "../../src/promise/PromiseClient.ts"

const frame = (event: string, data: object, id?: number) =>
  `event: ${event}\n${id === undefined ? "" : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`
const eventFrame = (seq: number, type = "message.received") => frame("canonical_event", { seq, type }, seq)
const snapshotFrame = (status: string, latestSeq: number) =>
  frame("snapshot", { run: { status }, timeline: { latestSeq } })

/** The seqs of the events of a run whose stream stays open after these frames. */
const followed = async (frames: string, afterSeq: number) => {
  const body = () => new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode(frames)) })
  const fetch = () => Promise.resolve(new Response(body(), { headers: { "content-type": "text/event-stream" } }))
  const { send } = makeCalls({ streamRun: ["GET", "/runs/{id}/stream"] }, { baseUrl: "http://localhost", fetch })
  const seqs: Array<number> = []
  for await (const { id } of followRun(send, "1", { afterSeq })) seqs.push(Number(id))
  return seqs
}

describe("the client with promises, following a run", () => {
  it("ends with the event that ends the run", async () => {
    const frames = snapshotFrame("running", 11) + eventFrame(11) + eventFrame(12, "run.completed")
    assert.deepStrictEqual(await followed(frames, 10), [11, 12])
  })

  it("ends with the last event of a run that ended before the cursor", async () => {
    const frames = snapshotFrame("completed", 14) + eventFrame(13) + eventFrame(14)
    assert.deepStrictEqual(await followed(frames, 12), [13, 14])
  })

  it("ends at once when the cursor is the last event of an ended run", async () => {
    assert.deepStrictEqual(await followed(snapshotFrame("failed", 14), 14), [])
  })
})

describe("the client with promises", () => {
  it("answers a file as its bytes", async () => {
    const bytes = Uint8Array.of(0x50, 0x4b, 3, 4, 0xff, 0xfe)
    const fetch = () => Promise.resolve(new Response(bytes, { headers: { "content-type": "application/zip" } }))
    const { call } = makeCalls({ getEvidence: ["GET", "/runs/{id}/evidence"] }, { baseUrl: "http://localhost", fetch })
    assert.deepStrictEqual(await call("getEvidence", { path: { id: "1" } }), bytes)
  })
})
