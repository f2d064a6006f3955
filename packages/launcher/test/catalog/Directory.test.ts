import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Directory } from "../../src/catalog/Directory.ts"
import { PackRegistry } from "../../src/catalog/PackRegistry.ts"
import { load, smallPack } from "../fixtures/Packs.ts"

const PEOPLE = "/packs/demo/people.yaml"

describe("the directory of people", () => {
  it.effect("has the groups of a person by pack, from the packs that name the person", () =>
    Effect.gen(function* () {
      const { catalog, warnings } = yield* load({
        ...smallPack(),
        ...smallPack("other"),
        ...smallPack("third"),
        [PEOPLE]: "people: { ana: { name: Ana, groups: [risk, desk] }, bo: {} }",
        "/packs/other/people.yaml": "people: { ana: { groups: [night] } }"
      })
      assert.deepStrictEqual(warnings, [])
      const groupsOf = (id: string) =>
        Effect.flatMap(Directory, (directory) => directory.groupsOf(id)).pipe(
          Effect.provide(Directory.layer.pipe(Layer.provide(PackRegistry.layerMemory(catalog))))
        )
      assert.deepStrictEqual(
        [...(yield* groupsOf("ana"))],
        [
          ["demo", ["risk", "desk"]],
          ["other", ["night"]]
        ]
      )
      assert.deepStrictEqual([...(yield* groupsOf("bo"))], [["demo", []]])
      assert.strictEqual((yield* groupsOf("toString")).size, 0)
    })
  )

  it.effect("breaks its pack when it cannot be meant", () =>
    Effect.gen(function* () {
      const { message } = yield* Effect.flip(load({ ...smallPack(), [PEOPLE]: "people:\n  ana: { groups: [a b] }\n" }))
      assert.match(message, /^invalid people\.ana\.groups\.0 in demo\/people\.yaml: .*id without spaces.* \(line 2\)$/)
    })
  )

  it.effect("refuses an address that is not one, and names the field", () =>
    Effect.gen(function* () {
      const refused = (entry: string) =>
        Effect.map(
          Effect.flip(load({ ...smallPack(), [PEOPLE]: `people:\n  ana: { ${entry} }\n` })),
          ({ message }) => message
        )
      const mails = [
        "ana",
        "Ana <ana@example.org>",
        "ana@example.org,bo@example.org",
        "ana@example.org\\r\\nBcc: x@y.org"
      ]
      for (const mail of mails) {
        assert.match(yield* refused(`email: "${mail}"`), /^invalid people\.ana\.email .*such as ana@example\.org/)
      }
      assert.match(yield* refused("slack: ana"), /^invalid people\.ana\.slack .*such as U012AB3CD/)
      const link = "link: personal, email: ana@example.org"
      assert.match(yield* refused("link: personal"), /^invalid people\.ana\.email .*is required by link: personal/)
      assert.match(yield* refused(link), /^invalid people\.ana\.code .*whose codes are sent to it/)
      assert.match(yield* refused(`${link}, code: ANA@example.org`), /^invalid people\.ana\.code .*another address/)
      assert.match(yield* refused("code: ana@example.net"), /^invalid people\.ana\.code .*needs link: personal/)
      assert.match(
        yield* refused(`${link}, code: ana@example.net, slack: U012AB3CD`),
        /^invalid people\.ana\.link .*Slack/
      )
      assert.match(yield* refused("link: shared"), /^invalid people\.ana\.link .*personal/)
    })
  )
})
