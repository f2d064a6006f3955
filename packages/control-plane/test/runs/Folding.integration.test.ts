import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { RunId } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { call, descriptor, layerTestService } from "../support/HttpService.ts"
import { awaitStatus } from "../support/Observation.ts"

const ACCENT = "\u0301"
const COMPOSED = "\u00e9"

const SCENARIOS = {
  german: "Überprüfung/Straße@1.0.0",
  russian: "банк/Кредит@1.0.0",
  greek: "τράπεζα/ΟΔΟΣ@1.0.0",
  composed: `caf${COMPOSED}/check@1.0.0`,
  decomposed: `cafe${ACCENT}/check@1.0.0`
} as const
type Name = keyof typeof SCENARIOS

const parts: ReadonlyArray<readonly [part: string, names: ReadonlyArray<Name>]> = [
  ["ÜBERPRÜFUNG", ["german"]],
  ["überprüfung/straße", ["german"]],
  ["STRASSE", ["german"]],
  [`U\u0308BERPRU\u0308FUNG`, ["german"]],
  ["кредит", ["russian"]],
  ["БАНК/КРЕДИТ", ["russian"]],
  ["οδος", ["greek"]],
  [`CAF${COMPOSED.toUpperCase()}`, ["composed", "decomposed"]],
  [`CAFE${ACCENT}/`, ["composed", "decomposed"]]
]

// docs/reference/search.md#folding
layer(layerTestService({ observer: { recoveryEnabled: false, sessionPollBaseMs: 60_000 } }), {
  excludeTestServices: true
})("a comparison that ignores case, in a database of the locale C,", (it) => {
  let created: Map<string, Name> | undefined
  const seeded = Effect.gen(function* () {
    if (created !== undefined) return created
    const names = new Map<string, Name>()
    for (const name of ["german", "russian", "greek", "composed", "decomposed"] as const) {
      const metadata = { scenarioRef: SCENARIOS[name] }
      const { body } = yield* call("POST", "/runs", { body: descriptor({ session: { metadata } }) })
      names.set(body.runId, name)
      yield* awaitStatus(RunId.make(body.runId), "starting")
    }
    created = names
    return names
  })
  const found = Effect.fnUntraced(function* (
    path: string,
    idOf: (entry: Record<string, string>) => string | undefined
  ) {
    const names = yield* seeded
    const { body, status, text } = yield* call("GET", path)
    assert.strictEqual(status, 200, text)
    const entries: ReadonlyArray<Record<string, string>> = body.data ?? body.recentRuns
    return [...new Set(entries.map((entry) => names.get(idOf(entry) ?? "") ?? "none"))].toSorted()
  })
  const runs = (query: string) => found(`/runs?${query}`, ({ id }) => id)

  it.effect("is made where lower() knows the letters of ASCII only", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      assert.deepStrictEqual(yield* sql`SELECT lower('Ü') AS lower, fold_text(NULL) AS none`, [
        { lower: "Ü", none: null }
      ])
    })
  )

  it.effect.each(parts)("finds %s as a part of scenarioRef, in runs, their search and events", ([part, names]) =>
    Effect.gen(function* () {
      const given = encodeURIComponent(part)
      assert.deepStrictEqual<ReadonlyArray<string>>(yield* runs(`scenarioRef=${given}`), names)
      assert.deepStrictEqual<ReadonlyArray<string>>(yield* runs(`search=${given}`), names)
      assert.deepStrictEqual<ReadonlyArray<string>>(yield* runs(`q=${encodeURIComponent(`"${part}"`)}`), names)
      assert.deepStrictEqual<ReadonlyArray<string>>(
        yield* found(`/events?scenarioRef=${given}`, ({ runId }) => runId),
        names
      )
    })
  )

  it.effect("finds the whole scenarioRef on the dashboard and in q, and no part of it", () =>
    Effect.gen(function* () {
      for (const name of ["german", "russian", "decomposed"] as const) {
        const whole = SCENARIOS[name].toUpperCase()
        const names = name === "decomposed" ? ["composed", "decomposed"] : [name]
        const dashboard = (text: string) =>
          found(`/dashboard/overview?scenarioRef=${encodeURIComponent(text)}`, ({ id }) => id)
        assert.deepStrictEqual<ReadonlyArray<string>>(
          yield* runs(`q=${encodeURIComponent(`scenarioRef:"${whole}"`)}`),
          names
        )
        assert.deepStrictEqual<ReadonlyArray<string>>(yield* dashboard(whole), names)
        assert.deepStrictEqual<ReadonlyArray<string>>(yield* dashboard(whole.slice(0, -1)), [])
      }
    })
  )

  it.effect("finds a word of an event in q", () =>
    Effect.gen(function* () {
      const names = yield* seeded
      const [runId] = names.keys()
      const artifact = { kind: "report", label: "Größenprüfung", inline: {} }
      assert.strictEqual((yield* call("POST", `/runs/${runId}/artifacts`, { body: artifact })).status, 201)
      const words = ["GRÖSSENPRÜFUNG", "GRÖẞENPRÜFUNG", "Gro\u0308ßenpru\u0308fung", "Grüßenprüfung"]
      const found = yield* Effect.forEach(words, (word) =>
        Effect.map(call("GET", `/events?q=${encodeURIComponent(word)}`), ({ body }) => body.data.length)
      )
      assert.deepStrictEqual(found, [1, 1, 1, 0])
    })
  )
})
