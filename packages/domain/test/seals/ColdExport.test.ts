import { assert, describe, it } from "@effect/vitest"
import { artifactText, exported, formats, honest, inline, metrics, sessionText, verified } from "../support/exports.ts"

describe("an export of a run that only the archive has", () => {
  const archived = (over: (around: string) => string) => ({
    around: over(
      honest.around
        .replace('"status":"running"', '"status":"running","storage":"archive"')
        .replace(sessionText, "null")
        .replace(`"inline":${inline}`, '"inlineOmitted":true')
    ),
    frames: []
  })

  it("is whole without the session and the contents, which it names", () => {
    for (const format of formats) {
      const found = verified(exported(format, { records: archived((around) => around) }))
      assert(found.ok, JSON.stringify(found))
      assert.includeMembers(
        [...found.notProven],
        ["session: the archive does not have it", "the content of 1 artifacts: the archive does not have it"]
      )
      assert.isFalse(found.proven.some((part) => part.startsWith("session")))
      assert.include(found.proven, "artifacts: id, kind, label, uri, order")
    }
  })

  it("is refused when another record is missing or changed, and elsewhere these are missing", () => {
    const changes: ReadonlyArray<(around: string) => string> = [
      (around) => around.replace('"label":"Summary"', '"label":"Else"'),
      (around) => around.replace(artifactText.replace(`"inline":${inline}`, '"inlineOmitted":true'), ""),
      (around) => around.replace('"inlineOmitted":true', '"inline":{}'),
      (around) => around.replace(',"inlineOmitted":true', ""),
      (around) => around.replace(JSON.stringify(metrics), "null"),
      (around) => around.replace(',"storage":"archive"', "")
    ]
    for (const change of changes) {
      assert.isFalse(verified(exported("json", { records: archived(change) })).ok, String(change))
    }
  })
})
