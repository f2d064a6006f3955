import { assert, describe, it } from "@effect/vitest"
import { makeSeal, type Seal, type SignatureCheck, verifyExport } from "@runplane/domain"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { nastyText } from "../support/arbitraries.ts"
import { at, RUN_ID } from "../support/events.ts"
import {
  artifactText,
  check,
  exported,
  formats,
  frameOf,
  frames,
  honest,
  keys,
  type Made,
  nothing,
  PROVEN,
  sessionText,
  sha256,
  texts,
  verified,
  whyOf
} from "../support/exports.ts"

for (const format of formats) {
  describe(`an export of format ${format}`, () => {
    it("fits as it is", () => {
      assert.deepInclude(verified(exported(format)), {
        ok: true,
        runId: RUN_ID,
        events: 5,
        signature: "valid",
        exportSignature: "valid"
      })
      const unsigned = verified(exported(format, { signer: undefined }))
      assert.deepInclude(unsigned, { ok: true, signature: "unsigned", exportSignature: "unsigned" })
      const open = verified(exported(format, { isSealed: false }))
      assert.deepInclude(open, { ok: true, seal: null, signature: null, exportSignature: "valid" })
      assert.deepInclude(verified(exported(format, { events: [], records: nothing })), { ok: true, events: 0 })
    })

    it("fits when it was exported under another key than it was sealed with", () => {
      const rotated = exported(format, { exporter: keys[1].signer })
      assert.deepInclude(verified(rotated), { ok: true, signature: "valid", exportSignature: "valid" })
      const onlyNew: SignatureCheck = (keyId, ...rest) => (keyId === "key-2" ? check(keyId, ...rest) : undefined)
      assert.strictEqual(whyOf(rotated, onlyNew), "the key key-1 that signed the seal is not known")
      const onlyOld: SignatureCheck = (keyId, ...rest) => (keyId === "key-1" ? check(keyId, ...rest) : undefined)
      assert.strictEqual(whyOf(rotated, onlyOld), "the key key-2 that signed the export is not known")
    })

    it("names the first event that does not fit", () => {
      const why = (tamper: (events: ReadonlyArray<string>) => ReadonlyArray<string>) =>
        whyOf(exported(format, { tamper }))
      const reworded = (events: ReadonlyArray<string>, at: number) =>
        events.with(at, (events[at] ?? "").replace('"data":{', '"data":{"x":1,'))
      assert.strictEqual(
        why((events) => reworded(events, 2)),
        "3: its text is not the one that was sealed"
      )
      assert.strictEqual(
        why((events) => reworded(reworded(events, 4), 1)),
        "2: its text is not the one that was sealed"
      )
      assert.strictEqual(
        why((events) => events.toSpliced(1, 1)),
        "2: it is event 3 of its run"
      )
      assert.strictEqual(
        why((events) => events.toSpliced(1, 0, events[0] ?? "")),
        "2: it is event 1 of its run"
      )
      assert.strictEqual(
        why((events) => events.slice(0, 4)),
        "5: missing; 5 events were sealed"
      )
      assert.strictEqual(
        why((events) => events.toReversed()),
        "1: it is event 5 of its run"
      )
      assert.strictEqual(
        why((events) => events.with(3, (events[3] ?? "").replace(RUN_ID, "another"))),
        "4: it is of the run another"
      )
    })

    it("shows each single byte that is changed, dropped, repeated or swapped", () => {
      // Small: the check of the records is softer under a seal of an earlier release, and the bytes are not.
      const records = { ...nothing, frames: [] }
      const original = exported(format, { events: texts.slice(0, 2), records, isOld: true })
      assert.isTrue(verified(original).ok)
      const missed: Array<string> = []
      const attempt = (what: string, at: number, bytes: Buffer) => {
        if (!bytes.equals(original) && verified(bytes).ok) missed.push(`${what} ${at}`)
      }
      original.forEach((byte, at) => {
        const [before, after] = [original.subarray(0, at), original.subarray(at + 1)]
        const mask = [0x01, 0x20, 0x80][at % 3] ?? 1
        attempt("changed", at, Buffer.concat([before, Buffer.of(byte ^ mask), after]))
        attempt("dropped", at, Buffer.concat([before, after]))
        attempt("repeated", at, Buffer.concat([before, Buffer.of(byte, byte), after]))
        if (at + 1 < original.length) {
          const [next = 0, rest] = [original[at + 1], original.subarray(at + 2)]
          attempt("swapped", at, Buffer.concat([before, Buffer.of(next, byte), rest]))
        }
      })
      assert.deepStrictEqual(missed, [])
    }, 60_000)

    const offset = Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 100_000 })))

    it.prop("shows any other bytes in place of one", { offset, text: nastyText }, ({ offset, text }) => {
      const original = exported(format)
      const at = offset % original.length
      const changed = Buffer.concat([original.subarray(0, at), Buffer.from(text), original.subarray(at + 1)])
      if (!changed.equals(original)) assert.isFalse(verified(changed).ok)
    })

    it.prop("is known when it is cut anywhere", { offset }, ({ offset }) => {
      const original = exported(format)
      assert.isFalse(verified(original.subarray(0, offset % original.length)).ok)
    })

    it("continues a seal that was kept", () => {
      const kept = (events: number, head: string) =>
        makeSeal({ runId: RUN_ID, events, head: Buffer.from(head, "hex"), sealedAt: at(9), ...PROVEN }, keys[0].signer)
      const { heads } = JSON.parse(exported("json").toString())
      const found = (seal: Seal) => verifyExport(sha256, check, exported(format), { kept: seal })
      assert.isTrue(found(kept(3, heads[2])).ok)
      assert.isTrue(found(kept(5, heads[4])).ok)
      assert.deepInclude(found(kept(4, heads[2])), { why: "its first 4 events are not those of the kept seal" })
      assert.deepInclude(found(kept(6, heads[2])), { index: 6, why: "missing; the kept seal covers 6 events" })
      assert.deepInclude(found({ ...kept(3, heads[2]), runId: "another" }), {
        why: "the kept seal is of the run another"
      })
    })

    it("says what else is wrong", () => {
      const original = exported(format).toString()
      const changed = (from: string, to: string) => whyOf(Buffer.from(original.replace(from, to)))
      assert.match(changed('"status":"running"', '"status":"queued"'), /something beside them was changed/)
      assert.match(changed('"keyId":"key-1","sha256"', '"keyId":"key-9","sha256"'), /key-9 that signed the export/)
      assert.match(changed('"heads":["', '"heads":["0'), /^the head beside event 1 is not that of the chain$/)
      assert.match(
        changed(/"seal":\{.*?"signature":"\w*"\}/.exec(original)?.[0] ?? "", '"seal":null'),
        /something beside/
      )
      assert.match(changed('"digest"', '"other"'), /no seal and no digest/)
    })
  })
}

for (const format of formats) {
  describe(`the records beside the events, of format ${format}`, () => {
    const found = (records: typeof honest, made: Made = {}) => verified(exported(format, { ...made, records }))
    const why = (records: typeof honest, made: Made = {}) => {
      const checked = found(records, made)
      return checked.ok ? checked.notProven.join("\n") : checked.why
    }
    const changed = (from: string, to: string) => {
      assert.include(honest.around, from)
      return { ...honest, around: honest.around.replace(from, to) }
    }

    it("are proven where the events say them, and named where not", () => {
      const checked = found(honest)
      assert.isTrue(checked.ok)
      if (!checked.ok) return
      assert.include(checked.proven, "projection")
      assert.include(checked.proven, "raw frames")
      assert.include(checked.notProven.join(), "tags")
      assert.notInclude(checked.notProven.join(), "raw frames")
    })

    for (const [name, from, to, reason] of [
      ["the status", '"status":"running"', '"status":"completed"', /run.status is "completed", its events say absent/],
      ["the start", '"tags":', '"startedAt":"x","tags":', /run.startedAt is "x", its events say absent/],
      ["the initiator", '"initiatorParticipantId":"lead"', '"initiatorParticipantId":"a"', /say "lead"/],
      ["a participant", '["a","b","c"]}', '["a","b"]}', /session.metadata.participants/],
      ["the session", sessionText, "null", /the session is missing/],
      ["the projection", '"totalEvents":', '"total":', /the projection is not that of the events/],
      ["the metrics", '"messageCount":0', '"messageCount":1', /the metrics are not those of the events/],
      ["an artifact's label", '"label":"Summary"', '"label":"Other"', /artifact a1: label is "Other"/],
      ["an artifact's content", '"spans":[1', '"spans":[2', /artifact a1: its content is not the one that was added/],
      ["an artifact", artifactText, "", /artifact a1 is missing/],
      [
        "another artifact",
        artifactText,
        `${artifactText},${artifactText}`,
        /artifact 2 is a1, its events say that there/
      ]
    ] as const) {
      it(`contradict them: ${name}`, () => assert.match(why(changed(from, to)), reason))
    }

    it("hold the raw frames of the seal, in their order", () => {
      const [one = "", two = "", three = ""] = frames
      const of = (...given: ReadonlyArray<string>) => ({ ...honest, frames: given })
      assert.match(why(of(one, three, two)), /raw frame 2 is not the one at its position/)
      assert.match(why(of(one, two.replace("true", "false"), three)), /the raw frames are not those that were sealed/)
      assert.match(why(of(one, two.replace('"kind":"envelope"', '"kind":"x"'), three)), /not those that were sealed/)
      assert.match(why(of(one, two.replace(/"id":"./, '"id":"x'), three)), /raw frame 2/)
      assert.match(why(of(one)), /the export holds 1 of 3/)
      assert.match(why(of(one, two, three, frameOf(4))), /raw frames behind 3/)
      assert.match(why(honest, { proof: { frames: null } }), /raw frames: the seal does not cover them/)
    })

    it("may be of another fold, or under a seal that did not cover them", () => {
      const other = changed('"messageCount":0', '"messageCount":1')
      assert.match(
        why(other, { proof: { late: false, provenAfter: 2 } }),
        /metrics are not .*, or another release made it/
      )
      assert.match(why(other, { isSealed: false }), /metrics are not .*, or another release made it/)
      assert.match(why(changed('"status":"running"', '"status":"completed"'), { isOld: true }), /run.status is/)
      assert.isTrue(found(changed('"status":"running"', '"status":"completed"'), { isOld: true }).ok)
      assert.isFalse(found(changed('"status":"running"', '"status":"completed"'), { isSealed: false }).ok)
    })
  })
}

describe("a file that is not an export", () => {
  for (const [text, why] of [
    ["", "it is empty"],
    ["not JSON", "it is not an export as it was made: it was cut, laid out anew, or is something else"],
    ['{"a":1}', "it is not the export of a run"],
    ["[]", "it is a list, as batch exports are: export one run"],
    ['{"run":{},"canonicalEvents":[]}', "it has no seal and no digest at its end: it is older than these, or was cut"],
    ['{"type":"header","run":{}}\n', "it has no seal and no digest at its end: it is older than these, or was cut"],
    ['{"type":"header","run":{}}', "its last line is cut off"],
    ["\n\n\n", "it is not an export as it was made: it was cut, laid out anew, or is something else"]
  ] as const) {
    it(`is refused: ${JSON.stringify(text)}`, () => assert.strictEqual(whyOf(Buffer.from(text)), why))
  }

  it.prop("is refused whatever it is, and nothing throws", { text: nastyText }, ({ text }) => {
    for (const bytes of [text, `${text}\n`, `{"type":"header",${text}\n`, `{"run":${text}}`]) {
      assert.isFalse(verified(Buffer.from(bytes)).ok)
    }
  })

  it("may be deep, or one long line", () => {
    assert.isFalse(verified(Buffer.alloc(2_000_000, "[")).ok)
    assert.isFalse(verified(Buffer.concat([Buffer.from('{"run":'), Buffer.alloc(5_000_000, "[")])).ok)
    assert.isFalse(verified(Buffer.concat([Buffer.from('{"type":"header","'), Buffer.alloc(5_000_000, "\\")])).ok)
    const deep = `{"runId":"${RUN_ID}","index":1,"data":${"[".repeat(100_000)}${"]".repeat(100_000)}}`
    for (const format of formats) assert.isFalse(verified(exported(format, { tamper: () => [deep] })).ok)
  })
})
