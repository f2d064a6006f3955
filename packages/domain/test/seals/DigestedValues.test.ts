import { assert, describe, it } from "@effect/vitest"
import {
  type DigestMember,
  digestedData,
  digestedEvent,
  digestedFrame,
  digestedPayload,
  type EventDraft,
  frameText,
  memberDigest,
  memberSalt
} from "@runplane/domain"
import * as Result from "effect/Result"
import { arbitraryDrafts, arbitraryFrame } from "../support/arbitraries.ts"
import { sha256 } from "../support/digests.ts"
import { draft, number } from "../support/events.ts"
import { NOW, normalise } from "../support/frames.ts"
import { seedOf } from "./erasedRuns.ts"
import { bytesOf, read } from "./erasures.ts"

const SEED = seedOf(1)
const digest: DigestMember = (pointer, value) =>
  memberDigest(sha256, memberSalt(sha256, Buffer.from(SEED, "base64url"), pointer), pointer, bytesOf(value))

/** The digested texts of events as a checker and as a writer make them. */
const assertSame = (drafts: ReadonlyArray<EventDraft>) => {
  for (const { recorded } of number(drafts)) {
    const written = JSON.stringify({ ...recorded, data: digestedData(recorded.type, recorded.data, digest) })
    const checked = digestedEvent(sha256, bytesOf(JSON.stringify(recorded)), SEED)
    assert.strictEqual(written, read(Result.getOrThrow(checked)))
  }
}
const RUNS = { arbitrary: { runs: 300 }, timeout: 60_000 }

describe("digests in the positions of values", () => {
  it.prop("are those of the text, of any events", { drafts: arbitraryDrafts }, ({ drafts }) => assertSame(drafts), RUNS)

  it.prop(
    "are those of the text, of what a runtime sends",
    { frame: arbitraryFrame },
    ({ frame }) => {
      const { drafts, raw } = normalise(frame)
      assertSame(drafts)
      const members = { seq: 1, ts: NOW, kind: raw.kind, sourceName: raw.sourceName }
      const written = frameText(members, JSON.stringify(digestedPayload(raw.kind, raw.payload, digest)))
      const checked = digestedFrame(sha256, bytesOf(frameText(members, JSON.stringify(raw.payload))), SEED)
      assert.strictEqual(written, read(Result.getOrThrow(checked)))
    },
    RUNS
  )

  it("are those of the text where a value has another kind than its rule", () => {
    assertSame([
      draft("tool.called", { decodedPayload: "Ann" }),
      draft("tool.called", { decodedPayload: ["Ann"], payload: null }),
      draft("tool.called", { decodedPayload: {}, payload: { "a/b~c": 1, 'q"\\': "x", 2: 3, 1: [], é: { a: 1 } } }),
      draft("policy.denied", { denials: [{ message: "Ann", code: "x" }, "Ann", null, []] }),
      draft("policy.denied", { denials: { message: "Ann" } }),
      draft("policy.resolved", { payload: { expectedCommitments: [{ title: "Ann", id: 1 }] }, descriptor: "Ann" })
    ])
  })
})
