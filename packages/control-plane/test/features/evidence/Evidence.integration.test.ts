import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { call, layerTestService } from "../../support/HttpService.ts"
import { createRun } from "../../support/Runs.ts"
import { addAnswer, bytesOf, decidedRun, evidenceOf, keysOf } from "./EvidenceRuns.ts"
import { filesIn, hasPython, verify } from "./Verifier.ts"

const textIn = (zip: Buffer, name: string) => filesIn(zip).get(name)?.toString("utf8") ?? ""
const documentIn = (zip: Buffer, name: string) => JSON.parse(textIn(zip, name))

/** Differs between two bundles of one state. */
const VARYING = new Set(["manifest.json", "manifest.sig", "anchor/none.txt"])

if (!hasPython) process.stdout.write("python3 of 3.9 or later is absent: the verifier of evidence is not run\n")

layer(layerTestService(), { excludeTestServices: true })("the evidence of a run", (it) => {
  it.effect("is a stored zip with sorted names", () =>
    Effect.gen(function* () {
      const runId = yield* decidedRun()
      const { bytes, headers, status } = yield* bytesOf(`/runs/${runId}/evidence`)
      assert.strictEqual(status, 200)
      assert.strictEqual(headers.get("content-type"), "application/zip")
      assert.strictEqual(headers.get("content-disposition"), `attachment; filename="run-${runId}.evidence.zip"`)
      const names = [...filesIn(bytes).keys()]
      assert.deepStrictEqual(names, names.toSorted())
      const manifest = documentIn(bytes, "manifest.json")
      const listed = manifest.files.map(({ name }: { name: string }) => name)
      assert.deepStrictEqual(
        listed,
        names.filter((name) => !VARYING.has(name))
      )
      assert.deepStrictEqual(manifest.scope, { run: runId })
      assert.deepInclude(manifest.runs[0], { runId, folder: "", status: "completed", sealed: true, frames: 5 })
      assert.deepStrictEqual(manifest.runs[0].empty, ["alerts.jsonl", "people.jsonl"])
      const leftOut = manifest.runs[0].leftOut.map(({ what }: { what: string }) => what)
      assert.includeMembers(leftOut, ["marks.json", "the receipt of the runtime"])
    })
  )

  it.effect("has the same bytes again, but for the manifest, its signature and the anchor", () =>
    Effect.gen(function* () {
      const runId = yield* decidedRun()
      const [first, second] = [filesIn(yield* evidenceOf(runId)), filesIn(yield* evidenceOf(runId))]
      assert.deepStrictEqual([...first.keys()], [...second.keys()])
      for (const [name, content] of first) {
        if (!VARYING.has(name)) assert.isTrue(content.equals(second.get(name) ?? Buffer.of()), name)
      }
      const madeAt = (files: typeof first) => JSON.parse(files.get("manifest.json")?.toString() ?? "").madeAt
      assert.notStrictEqual(madeAt(first), madeAt(second))
    })
  )

  it.effect("says who could act, who did, why, and how close it was", () =>
    Effect.gen(function* () {
      const bundle = yield* evidenceOf(yield* decidedRun())
      const oversight = documentIn(bundle, "oversight.json")
      assert.strictEqual(oversight.authority, "initiator_only")
      assert.deepStrictEqual(
        oversight.participants.map(({ acts, id, mayCommit }: { acts: number; id: string; mayCommit: boolean }) => [
          ...[id, mayCommit, acts]
        ]),
        [
          ["agent://lead", true, 2],
          ["agent://risk", false, 1],
          ["agent://cost", false, 2]
        ]
      )
      assert.deepStrictEqual(
        oversight.overrides.map(({ by, kind }: { by: string; kind: string }) => [kind, by]),
        [["changed-ballot", "agent://cost"]]
      )
      assert.deepInclude(oversight.commitment, { by: "agent://lead", action: "loan.approved", positive: true })
      assert.strictEqual(oversight.controls[0].action, "run.create")
      const forecasts = documentIn(bundle, "forecast.json").atBallots
      assert.deepStrictEqual(
        forecasts.map(({ by, vote }: { by: string; vote: string }) => [by, vote]),
        [
          ["agent://risk", "APPROVE"],
          ["agent://cost", "REJECT"],
          ["agent://cost", "APPROVE"]
        ]
      )
      assert.lengthOf(documentIn(bundle, "whatif.json").smallestChange, 1)
      assert.include(textIn(bundle, "why.md"), "# Approved: loan.approved")
      assert.notInclude(textIn(bundle, "why.md"), "printed at")
      const [call] = documentIn(bundle, "models.json").calls
      assert.deepInclude(call, { participantId: "agent://risk", costBasis: "builtin" })
      assert.match(call.promptSha256, /^[0-9a-f]{64}$/)
      const policy = documentIn(bundle, "policy.json")
      assert.deepInclude(policy, { policyVersion: "p.majority", source: "recorded" })
      assert.deepInclude(policy.rules.voting, { algorithm: "majority", threshold: 0.6 })
      assert.strictEqual(policy.history[0].action, "policy.register")
      assert.include(textIn(bundle, "scenario.yaml"), "scenarioRef: loans/fast@1.0.0")
    })
  )

  it.effect("has an audit entry of its own, which no later bundle has", () =>
    Effect.gen(function* () {
      const runId = yield* decidedRun()
      yield* evidenceOf(runId, "?includeRaw=false")
      const { body } = yield* call("GET", `/audit?action=run.evidence&resourceId=${runId}`)
      assert.lengthOf(body.data, 1)
      assert.deepInclude(body.data[0].details, { outcome: "succeeded", includeRaw: false, includeMarks: true })
      assert.notInclude(textIn(yield* evidenceOf(runId), "audit.jsonl"), "run.evidence")
    })
  )

  it.effect("has the marks with their chain, and the deletion of one", () =>
    Effect.gen(function* () {
      const runId = yield* decidedRun()
      const add = (mark: object) =>
        call("POST", `/runs/${runId}/marks`, { body: { target: { kind: "run" }, source: "human", ...mark } })
      const marked = yield* add({ name: "quality", value: 0.85 })
      assert.strictEqual(marked.status, 201, marked.text)
      const truth = yield* add({ target: { kind: "decision" }, name: "correct", value: true, comment: 'so "said" Ada' })
      assert.strictEqual(truth.status, 201, truth.text)
      const removed = yield* call("DELETE", `/runs/${runId}/marks/${marked.body.id}`)
      assert.strictEqual(removed.status, 204, removed.text)
      const bundle = yield* evidenceOf(runId)
      assert.lengthOf(documentIn(bundle, "marks.json").entries, 3)
      assert.include(textIn(bundle, "audit.jsonl"), "mark.delete")
      if (hasPython) assert.strictEqual((yield* verify(bundle, { keys: yield* keysOf })).code, 0)
      const without = yield* evidenceOf(runId, "?includeMarks=false")
      assert.isFalse(filesIn(without).has("marks.json"))
    })
  )

  it.effect("has the answers of people, as the artifacts of the run have them", () =>
    Effect.gen(function* () {
      const runId = yield* decidedRun()
      const inline = yield* addAnswer(runId)
      const bundle = yield* evidenceOf(runId)
      const answers = textIn(bundle, "people.jsonl").trimEnd().split("\n")
      assert.lengthOf(answers, 1)
      assert.include(textIn(bundle, "artifacts.jsonl").split("\n"), answers[0])
      assert.deepStrictEqual(JSON.parse(answers[0] ?? "").inline, inline)
      assert.notInclude(documentIn(bundle, "manifest.json").runs[0].empty, "people.jsonl")
      if (hasPython) assert.strictEqual((yield* verify(bundle, { keys: yield* keysOf })).code, 0)
    })
  )

  it.effect("of an open run has no seal, and says so", () =>
    Effect.gen(function* () {
      const bundle = yield* evidenceOf(yield* createRun({ status: "running" }))
      const [run] = documentIn(bundle, "manifest.json").runs
      assert.isFalse(run.sealed)
      assert.deepInclude(run.leftOut, { what: "seal.json", why: "the run has not ended" })
      if (!hasPython) return
      const { code, output } = yield* verify(bundle, { keys: yield* keysOf })
      assert.strictEqual(code, 0, output)
      assert.include(output, "the run has no seal")
    })
  )

  it.effect("of an unknown run is 404", () =>
    Effect.gen(function* () {
      const answer = yield* call("GET", "/runs/00000000-0000-4000-8000-000000000000/evidence")
      assert.strictEqual(answer.status, 404)
    })
  )

  it.effect("of a search has a folder for each run, and one manifest", () =>
    Effect.gen(function* () {
      const tag = "of-a-search"
      const runIds = [yield* decidedRun({ environment: tag }), yield* decidedRun({ environment: tag })]
      const { bytes, headers, status } = yield* bytesOf(`/evidence?q=environment:${tag}`)
      assert.strictEqual(status, 200)
      assert.include(headers.get("content-disposition") ?? "", "runs.evidence.zip")
      const names = [...filesIn(bytes).keys()]
      assert.deepStrictEqual(names, names.toSorted())
      const { runs, scope } = documentIn(bytes, "manifest.json")
      assert.deepStrictEqual(scope, { query: `environment:${tag}` })
      assert.deepStrictEqual(
        runs.map(({ folder }: { folder: string }) => folder),
        runIds.map((runId, number) => `000${number + 1}-${runId}/`)
      )
      if (hasPython) assert.strictEqual((yield* verify(bytes, { keys: yield* keysOf })).code, 0)
      const { body } = yield* call("GET", "/audit?action=run.evidence&resource=search")
      assert.deepInclude(body.data[0].details, { runs: 2 })
    })
  )

  it.effect("of a search that finds no run, or that cannot be read, is 400", () =>
    Effect.gen(function* () {
      const none = yield* call("GET", "/evidence?q=environment:nowhere")
      assert.strictEqual(none.status, 400)
      assert.strictEqual(none.body.message, "q finds no run")
      const unread = yield* call("GET", "/evidence?q=nofield:1")
      assert.strictEqual(unread.status, 400)
      assert.include(JSON.stringify(unread.body.message), "nofield")
      assert.strictEqual((yield* call("GET", "/evidence")).status, 400)
    })
  )
})
