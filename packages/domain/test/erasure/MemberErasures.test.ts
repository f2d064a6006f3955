import { assert, describe, it } from "@effect/vitest"
import {
  digestedEvent,
  digestedFrame,
  eventMembers,
  frameMembers,
  frameText,
  servedEvent,
  withoutEventMembers,
  withoutFrameMembers
} from "@runplane/domain"
import * as Result from "effect/Result"
import { seedOf } from "../seals/erasedRuns.ts"
import { bytesOf, ERASED, erasableIn, read } from "../seals/erasures.ts"
import { arbitraryDrafts } from "../support/arbitraries.ts"
import { sha256 } from "../support/digests.ts"
import { number, textOf } from "../support/events.ts"

const SEED = seedOf(1)
const named = (pointers: ReadonlyArray<string>) => pointers.map((pointer) => ({ pointer, ...ERASED }))

describe("the erasure of members", () => {
  it.prop(
    "keeps the digested text, in one step or in several, whatever the event",
    { drafts: arbitraryDrafts },
    ({ drafts }) => {
      for (const event of number(drafts)) {
        const stored = bytesOf(textOf(event))
        const pointers = erasableIn(read(stored))
        const digested = Result.getOrThrow(digestedEvent(sha256, stored, SEED))
        const [first = [], second = []] = [pointers.slice(0, 1), pointers.slice(1)]
        const once = withoutEventMembers(sha256, stored, SEED, named(first))
        assert.isDefined(once)
        if (once === undefined) return
        const twice = withoutEventMembers(sha256, once.text, once.salts, named(second))
        const whole = withoutEventMembers(sha256, stored, SEED, named(pointers))
        assert.isDefined(twice)
        assert.isDefined(whole)
        if (twice === undefined || whole === undefined) return
        assert.deepStrictEqual([...once.digests, ...twice.digests], whole.digests)
        assert.strictEqual(read(twice.text), read(whole.text))
        const digests = new Map(pointers.map((pointer, at) => [pointer, whole.digests[at] ?? ""]))
        const { text } = servedEvent(whole.text)
        const salts = pointers.length === 0 ? SEED : whole.salts
        assert.strictEqual(read(Result.getOrThrow(digestedEvent(sha256, text, salts, digests))), read(digested))
      }
    }
  )

  it("is refused for a kept member, for an unknown one, and for one that is erased already", () => {
    const [event] = number([]).map(textOf)
    assert.isUndefined(event)
    const stored = bytesOf('{"type":"run.failed","data":{"reason":"Ann","status":"failed"}}')
    assert.deepStrictEqual([...eventMembers(stored)], [["/data/reason", '"Ann"']])
    assert.isUndefined(withoutEventMembers(sha256, stored, SEED, named(["/data/status"])))
    assert.isUndefined(withoutEventMembers(sha256, stored, SEED, named(["/data/other"])))
    const once = withoutEventMembers(sha256, stored, SEED, named(["/data/reason"]))
    assert.isDefined(once)
    assert.isUndefined(once && withoutEventMembers(sha256, once.text, once.salts, named(["/data/reason"])))
  })

  it("takes the bytes of an envelope out of its frame, whose digested text stays", () => {
    const payload = '{"kind":"stream-envelope","envelope":{"messageType":"Vote","payloadBase64":"QW5u"}}'
    const head = { seq: 1, ts: "2026-09-01T08:00:00.000Z", kind: "stream-envelope", sourceName: "r" }
    const frame = bytesOf(frameText(head, payload))
    const [[pointer = ""] = []] = [...frameMembers(frame)]
    const erased = withoutFrameMembers(sha256, frame, SEED, [{ pointer }])
    assert.isDefined(erased)
    if (erased === undefined) return
    assert.strictEqual(read(erased.text), frameText(head, payload.replace("QW5u", "")))
    const digests = new Map([[pointer, erased.digests[0] ?? ""]])
    assert.strictEqual(
      read(Result.getOrThrow(digestedFrame(sha256, erased.text, erased.salts, digests))),
      read(Result.getOrThrow(digestedFrame(sha256, frame, SEED)))
    )
  })
})
