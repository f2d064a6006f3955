import { randomInt } from "node:crypto"
import { assert, layer } from "@effect/vitest"
import {
  auditQueryFields,
  eventQueryFields,
  queryFields,
  queryResources,
  type RunSort,
  runQueryFields,
  runSortKeys,
  systemViews
} from "@runplane/api"
import { isJsonObject, parseQuery, type QueryValue } from "@runplane/domain"
import { type Answer, chanceOf } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import { EventLog } from "../../../src/event-log/EventLog.ts"
import { AuditTrail } from "../../../src/platform/audit/AuditTrail.ts"
import { messageDraft } from "../../support/Appends.ts"
import { call, layerTestService } from "../../support/HttpService.ts"
import { createRun } from "../../support/Runs.ts"
import { type Facts, isMatch, someQuery } from "./QueryModel.ts"
import {
  durationOf,
  facetsOf,
  factsOf,
  LABEL_PATHS,
  MARK_PATHS,
  markOf,
  SECRET,
  type Seed,
  seedEventMarks,
  seedRuns
} from "./SearchSeeds.ts"

const RUNS = 40
/** Generated searches of each resource; more in continuous integration. */
const SEARCHES = Math.ceil(Number(process.env["CONTRACT_FUZZ_REQUESTS"] || 1_000) / 20)
/** The seed of an earlier test run, which failures name. */
const SEED = Number(process.env["CONTRACT_FUZZ_SEED"] || randomInt(2 ** 31))

const searched = (path: string, q: string, more = "") =>
  call("GET", `${path}?q=${encodeURIComponent(q)}${more}`, { headers: { "x-test": "search" } })

const at = (path: ReadonlyArray<string>, value: Schema.Json | undefined): ReadonlyArray<QueryValue> => {
  const [key, ...rest] = path
  if (key === undefined) {
    return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? [String(value)] : []
  }
  return isJsonObject(value) ? at(rest, value[key]) : []
}

const service = layerTestService({ observer: { recoveryEnabled: false } })

layer(service, { excludeTestServices: true })("q=", (it) => {
  let cached: ReadonlyArray<Seed> | undefined
  const seeded = Effect.gen(function* () {
    cached ??= yield* seedRuns(RUNS)
    return cached
  })

  it.effect("finds the runs that the model finds and counts their values, in any order, for any text", () =>
    Effect.gen(function* () {
      const seeds = yield* seeded
      const entries = seeds.map(factsOf)
      for (let number = 0; number < SEARCHES; number++) {
        const chance = chanceOf(SEED, number)
        const q = someQuery(chance, runQueryFields, entries, LABEL_PATHS, 0, MARK_PATHS)
        const sortBy = chance.pick(runSortKeys)
        const order = `sortBy=${sortBy}&sortOrder=${chance.pick(["asc", "desc"])}`
        const ids: Array<string> = []
        const totals = new Set<number>()
        let next = ""
        do {
          const path = `&limit=${chance.pick([9, 200])}&includeArchived=true&${order}${next}`
          const { body, status, text } = yield* searched("/runs", q, path)
          assert.strictEqual(status, 200, `${SEED} ${q}: ${text}`)
          ids.push(...body.data.map((run: { id: string }) => run.id))
          totals.add(body.total)
          next = body.nextCursor === undefined ? "" : `&cursor=${body.nextCursor}`
        } while (next !== "")
        const query = Result.getOrThrow(parseQuery(q, runQueryFields))
        const expected = seeds.filter((_, at) => isMatch(query, entries[at] ?? { values: () => [], text: "" }))
        assert.deepStrictEqual(ids.toSorted(), expected.map(({ id }) => id).toSorted(), `${SEED} ${q}`)
        assert.deepStrictEqual([...totals], [expected.length], `${SEED} ${q}`)
        const facets = yield* searched("/runs/facets", q, "&includeArchived=true")
        assert.deepStrictEqual(facets.body, { total: expected.length, facets: facetsOf(expected) }, `${SEED} ${q}`)
      }
      const { body } = yield* call("GET", "/runs/facets?fields=tags,nothing&status=failed")
      const failed = seeds.filter(({ archivedAt, status }) => status === "failed" && archivedAt === undefined)
      assert.deepStrictEqual(body, {
        total: failed.length,
        facets: facetsOf(failed).filter(({ field }) => field === "tags")
      })
      assert.deepStrictEqual((yield* call("GET", "/runs/facets?fields=nothing")).body.facets, [])
    })
  )

  it.effect("finds no runs by redacted secrets", () =>
    Effect.gen(function* () {
      yield* seeded
      for (const path of [
        "cancelCallback.bearer",
        "executionRequest.session.metadata.cancelCallback.bearer",
        "cancelCallback.url"
      ]) {
        for (const q of [`metadata.${path}:${SECRET}`, `has:metadata.${path}`]) {
          assert.strictEqual((yield* searched("/runs", q, "&includeArchived=true")).body.total, 0, q)
        }
      }
      assert.strictEqual((yield* searched("/runs", SECRET, "&includeArchived=true")).body.total, 0)
    })
  )

  it.effect("combines with other parameters; archived runs are omitted unless the search names them", () =>
    Effect.gen(function* () {
      const seeds = yield* seeded
      const count = (keep: (seed: Seed) => boolean) => seeds.filter(keep).length
      const total = Effect.fnUntraced(function* (q: string, more = "") {
        return (yield* searched("/runs", q, more)).body.total
      })
      const isOpen = (seed: Seed) => seed.archivedAt === undefined
      assert.strictEqual(
        yield* total("tokens:>100"),
        count((seed) => isOpen(seed) && seed.tokens > 100)
      )
      assert.strictEqual(
        yield* total("archived:true"),
        count((seed) => !isOpen(seed))
      )
      assert.strictEqual(yield* total("-archived:true"), count(isOpen))
      assert.strictEqual(
        yield* total("tags:nightly", "&status=failed&createdAfter=2026-07-05&includeArchived=true"),
        count(
          ({ createdAt, status, tags }) =>
            tags.length > 0 && status === "failed" && createdAt > "2026-07-05T00:00:00.000Z"
        )
      )
    })
  )

  const sortValue = (key: RunSort, seed: Seed): number => {
    if (key.startsWith("mark.")) return markOf(seed, key.slice("mark.".length))
    if (key === "createdAt" || key === "updatedAt") return Date.parse(seed.createdAt)
    if (key === "duration") return durationOf(seed)
    return key === "cost" || key === "tokens" || key === "events" ? seed[key] : Number.NaN
  }

  for (const key of [...runSortKeys, "mark.quality", "mark.correct", "mark.tone", "mark.none"] as const) {
    for (const order of ["asc", "desc"] as const) {
      it.effect(`pages through all runs by cursor, sorted by ${key} ${order}, like the pages by offset`, () =>
        Effect.gen(function* () {
          const seeds = yield* seeded
          const path = `/runs?includeArchived=true&limit=7&sortBy=${key}&sortOrder=${order}`
          const ids: Array<string> = []
          let next = ""
          for (let offset = 0; ; offset += 7) {
            const { body, text } = yield* call("GET", `${path}${next}`)
            const byOffset = yield* call("GET", `${path}&offset=${offset}`)
            assert.deepStrictEqual(body.data, byOffset.body.data, text)
            assert.strictEqual(body.total, seeds.length)
            ids.push(...body.data.map((run: { id: string }) => run.id))
            assert.strictEqual("nextCursor" in body, body.data.length === 7)
            if (body.nextCursor === undefined) break
            next = `&cursor=${body.nextCursor}`
          }
          assert.lengthOf(new Set(ids), seeds.length)
          const values = ids.map((id) => sortValue(key, seeds.find((seed) => seed.id === id) ?? seedless()))
          const sorted = values.toSorted((left, right) =>
            left === right ? 0 : (order === "asc") === left < right ? -1 : 1
          )
          assert.deepStrictEqual(values, sorted)
        })
      )
    }
  }

  it.effect("rejects a cursor of another order, of another list, or a forged one", () =>
    Effect.gen(function* () {
      yield* seeded
      const cursorOf = Effect.fnUntraced(function* (path: string) {
        return (yield* call("GET", path)).body.nextCursor
      })
      const ours = yield* cursorOf("/runs?limit=1&sortBy=cost")
      const forged = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url")
      const refused = [
        `/runs?cursor=${ours}`,
        `/runs?sortBy=cost&sortOrder=asc&cursor=${ours}`,
        `/audit?cursor=${ours}`,
        "/runs?cursor=x",
        "/audit?cursor=%01",
        `/runs?cursor=${forged(["runs createdAt desc", "2026-13-01T00:00:00.000000Z", "x"])}`,
        `/runs?cursor=${forged(["runs createdAt desc", "2026-13-01T00:00:00.000000Z", cached?.[0]?.id])}`,
        `/runs?sortBy=events&cursor=${forged(["runs events desc", "99999999999", cached?.[0]?.id])}`,
        `/runs?sortBy=cost&cursor=${forged(["runs cost desc", "1;2", cached?.[0]?.id])}`,
        `/audit?cursor=${forged(["audit createdAt desc", "2026-07-01T00:00:00.000000Z", "-"])}`
      ]
      for (const path of refused) {
        const { body, status } = yield* call("GET", path)
        assert.strictEqual(status, 400, path)
        assert.deepStrictEqual(
          [body.errorCode, body.message],
          ["VALIDATION_ERROR", "cursor is not one of this list in this order"]
        )
      }
    })
  )

  it.effect("is rejected with the position and the allowed values", () =>
    Effect.gen(function* () {
      for (const [path, q, message] of [
        ["/runs", "status:done", /^q at 8: "done" is not a value of status; expected queued, starting/],
        ["/runs", "cost:>1 sender:x", /^q at 9: unknown field "sender"; expected id, status, .*metadata\.<name>/],
        ["/events", "type:run.exploded", /^q at 6: "run.exploded" is not a value of type; expected run.created/],
        ["/events", "cost:>1", /^q at 1: unknown field "cost"; expected seq, runId/],
        ["/audit", "(actor:x", /^q at 9: the parenthesis is not closed/],
        ["/audit", "x".repeat(2_001), /^q at 2001: the query is longer than 2000 characters/]
      ] as const) {
        const { body, status } = yield* searched(path, q)
        assert.strictEqual(status, 400)
        assert.strictEqual(body.errorCode, "VALIDATION_ERROR")
        assert.lengthOf(body.message, 1)
        assert.match(body.message[0], message)
      }
    })
  )

  it.effect("knows the columns of all declared fields, which GET /query/fields lists", () =>
    Effect.gen(function* () {
      yield* seeded
      for (const resource of queryResources) {
        const { body, status } = yield* call("GET", `/query/fields?resource=${resource}`)
        assert.strictEqual(status, 200)
        assert.deepStrictEqual(body, { resource, fields: queryFields[resource] })
        for (const { dotted, name } of body.fields) {
          const answer = yield* searched(`/${resource}`, `has:${name}${dotted === true ? ".x" : ""}`)
          assert.strictEqual(answer.status, 200, answer.text)
        }
      }
      assert.strictEqual((yield* call("GET", "/query/fields?resource=webhooks")).status, 400)
      assert.strictEqual((yield* call("GET", "/query/fields")).status, 400)
    })
  )

  it.effect("is stored in views: those of the product are read-only", () =>
    Effect.gen(function* () {
      yield* seeded
      const { body: views } = yield* call("GET", "/views")
      assert.deepStrictEqual(views, systemViews)
      for (const { id, q, resource } of systemViews) {
        assert.strictEqual((yield* searched(`/${resource}`, q)).status, 200, q)
        for (const [method, body] of [
          ["PATCH", { name: "Mine" }],
          ["DELETE", undefined]
        ] as const) {
          const answer = yield* call(method, `/views/${id}`, body && { body })
          assert.deepStrictEqual([answer.status, answer.body.errorCode], [403, "FORBIDDEN"])
          assert.match(answer.body.message, /comes with the product and is read-only/)
        }
      }
    })
  )

  it.effect("is stored in views: saved, listed, changed, removed, and validated as a search", () =>
    Effect.gen(function* () {
      const save = (body: unknown) => call("POST", "/views", { body })
      const saved = yield* save({
        name: "Costly",
        resource: "runs",
        q: "cost:>1",
        columns: ["cost"],
        sort: "cost desc"
      })
      assert.strictEqual(saved.status, 201, saved.text)
      const { body: view } = saved
      assert.deepInclude(view, { name: "Costly", q: "cost:>1", owner: "anonymous", readOnly: false })
      assert.deepStrictEqual((yield* call("GET", "/views?resource=runs")).body.at(-1), view)
      assert.notDeepInclude((yield* call("GET", "/views?resource=audit")).body, view)
      const changed = yield* call("PATCH", `/views/${view.id}`, { body: { q: "cost:>2", columns: [] } })
      assert.deepInclude(changed.body, { ...view, q: "cost:>2", columns: [], updatedAt: changed.body.updatedAt })

      const refusals: ReadonlyArray<readonly [body: unknown, status: number, message: RegExp]> = [
        [{ name: "Costly", resource: "runs" }, 409, /^there is a view with the name Costly$/],
        [{ name: "a", resource: "runs", q: "cost:>x" }, 400, /^q at 7: "x" is not a value of cost/],
        [{ name: "a", resource: "events", q: "cost:>1" }, 400, /^q at 1: unknown field "cost"/],
        [{ name: "a", resource: "events", sort: "cost desc" }, 400, /^sort is for views of runs$/],
        [{ name: "", resource: "runs" }, 400, /name should not be empty/],
        [{ name: "a", resource: "webhooks" }, 400, /resource must be one of the following values: runs, events, audit/],
        [{ name: "a", resource: "runs", q: "x".repeat(2_001) }, 400, /q must be shorter than or equal to 2000/],
        [{ name: "a", resource: "runs", columns: Array(51).fill("c") }, 400, /columns must contain no more than 50/],
        [{ name: "a", resource: "runs", owner: "me" }, 400, /property owner should not exist/]
      ]
      for (const [body, status, message] of refusals) {
        const answer = yield* save(body)
        assert.strictEqual(answer.status, status, answer.text)
        assert.match([answer.body.message].flat().join("; "), message)
      }
      yield* save({ name: "Other", resource: "runs" })
      const taken = yield* call("PATCH", `/views/${view.id}`, { body: { name: "Other" } })
      assert.strictEqual(taken.status, 409)
      assert.strictEqual((yield* call("PATCH", `/views/${view.id}`, { body: { q: "nope:1" } })).status, 400)

      assert.strictEqual((yield* call("DELETE", `/views/${view.id}`)).status, 204)
      assert.strictEqual((yield* call("DELETE", `/views/${view.id}`)).status, 204)
      assert.strictEqual((yield* call("PATCH", `/views/${view.id}`, { body: {} })).status, 404)
      const { body: trail } = yield* call("GET", `/audit?resource=view&resourceId=${view.id}`)
      assert.deepStrictEqual(
        trail.data.map(({ action }: { action: string }) => action),
        ["view.delete", "view.update", "view.create"]
      )
    })
  )

  it.effect("finds the audit entries that the model finds, page by page", () =>
    Effect.gen(function* () {
      const trail = yield* AuditTrail
      for (let number = 0; number < 30; number++) {
        yield* trail.record({
          caller: {
            actor: { actorId: `key:${number % 3}`, actorType: "api-key" },
            requestId: number % 2 ? "" : "r",
            address: "127.0.0.1"
          },
          action: ["run.create", "run.delete", "webhook.create"][number % 3] ?? "",
          resource: number % 3 === 2 ? "webhook" : "run",
          resourceId: `id-${number % 5}`,
          outcome: number % 4 === 0 ? "refused" : "succeeded",
          details: { note: { text: `n${number % 3}` }, size: number },
          at: `2026-07-0${1 + (number % 9)}T10:00:00.000Z`
        })
      }
      const { body: all } = yield* call("GET", "/audit?limit=200")
      const facts = all.data.map(
        (entry: Schema.JsonObject): Facts => ({
          values: (field, path) => {
            if (field === "details") return at((path ?? "").split("."), entry["details"])
            return field === "outcome" ? at(["outcome"], entry["details"]) : at([field], entry)
          },
          text: ["actor", "action", "resource", "resourceId", "requestId"]
            .flatMap((field) => at([field], entry))
            .join("\n")
        })
      )
      for (let number = 0; number < SEARCHES; number++) {
        const q = someQuery(chanceOf(SEED, number), auditQueryFields, facts, ["note.text", "size", "no.such"])
        const query = Result.getOrThrow(parseQuery(q, auditQueryFields))
        const expected = all.data.filter((_: unknown, at: number) => isMatch(query, facts[at]))
        const found: Array<unknown> = []
        let next = ""
        do {
          const { body, status, text } = yield* searched("/audit", q, `&limit=20${next}`)
          assert.strictEqual(status, 200, `${SEED} ${q}: ${text}`)
          assert.strictEqual(body.total, expected.length, `${SEED} ${q}`)
          found.push(...body.data)
          next = body.nextCursor === undefined ? "" : `&cursor=${body.nextCursor}`
        } while (next !== "")
        assert.deepStrictEqual(found, expected, `${SEED} ${q}`)
      }
    }).pipe(Effect.provide(AuditTrail.layer))
  )

  it.effect("finds the events that the model finds, with nextCursor", () =>
    Effect.gen(function* () {
      const log = yield* EventLog
      const runs = [yield* createRun(), yield* createRun()]
      for (let number = 0; number < 40; number++) {
        yield* log.record({
          runId: runs[number % 2] ?? runs[0] ?? (yield* createRun()),
          events: [
            messageDraft(number, `2026-07-0${1 + (number % 9)}T10:00:00.000Z`, number % 5 === 0 ? 'say "hi"' : "é", {
              sender: `agent://${number % 3}`,
              type: number % 7 === 0 ? "signal.emitted" : "message.received"
            })
          ]
        })
      }
      const { body: all } = yield* call("GET", "/events?limit=1000")
      const marked = yield* seedEventMarks(all.data.slice(0, 30))
      const paths: Readonly<Record<string, ReadonlyArray<string>>> = {
        subjectKind: ["subject", "kind"],
        subjectId: ["subject", "id"],
        sourceKind: ["source", "kind"],
        sourceName: ["source", "name"],
        sender: ["data", "sender"],
        messageType: ["data", "messageType"]
      }
      const facts = all.data.map(
        (event: Schema.JsonObject): Facts => ({
          values: (field, path) => {
            if (field === "seq" || field === "index") return [Number(event[field])]
            if (field === "data") return at(["data", ...(path ?? "").split(".")], event)
            if (field === "mark") {
              const own = marked.get(Number(event["seq"])) ?? []
              return own.flatMap(({ name, value }) => (path === undefined || path === name ? [value] : []))
            }
            return ["scenario", "scenarioRef", "sourceRef", "environment", "tags"].includes(field)
              ? []
              : at(paths[field] ?? [field], event)
          },
          text: JSON.stringify(event),
          isJson: true
        })
      )
      for (let number = 0; number < SEARCHES; number++) {
        const paths = ["payload.value", "sender", "no.such"]
        const q = someQuery(chanceOf(SEED, number), eventQueryFields, facts, paths, 0, MARK_PATHS)
        const query = Result.getOrThrow(parseQuery(q, eventQueryFields))
        const expected = all.data.filter((_: unknown, at: number) => isMatch(query, facts[at]))
        const found: Array<unknown> = []
        let after: number | undefined = 0
        while (after !== undefined) {
          const { body, status, text }: Answer = yield* searched("/events", q, `&limit=20&afterSeq=${after}`)
          assert.strictEqual(status, 200, `${SEED} ${q}: ${text}`)
          if ("total" in body) assert.strictEqual(body.total, expected.length - found.length, `${SEED} ${q}`)
          found.push(...body.data)
          after = body.nextCursor
        }
        assert.deepStrictEqual(found, expected, `${SEED} ${q}`)
      }
    })
  )
})

const seedless = (): never => {
  throw new Error("an id that was not seeded")
}
