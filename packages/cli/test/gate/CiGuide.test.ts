import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { JSON_SCHEMA, load } from "js-yaml"
import { annotations, COMMENT_MARK } from "../../src/gate/GitHub.ts"

const guide = readFileSync(join(import.meta.dirname, "../../../../docs/guides/ci.md"), "utf8")
const [gitHub, gitLab, ...others] = [...guide.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, text = ""]) =>
  load(text, { schema: JSON_SCHEMA })
)

const optional = Schema.optionalKey
const Step = Schema.Struct({
  name: optional(Schema.String),
  uses: optional(Schema.String),
  run: optional(Schema.String),
  if: optional(Schema.Literals(["always()", "always() && github.event_name == 'pull_request'"])),
  env: optional(Schema.Record(Schema.String, Schema.String)),
  with: optional(Schema.Record(Schema.String, Schema.Union([Schema.String, Schema.Number])))
})
const Workflow = Schema.Struct({
  name: Schema.String,
  on: Schema.Array(Schema.String),
  jobs: Schema.Struct({
    gate: Schema.Struct({
      permissions: Schema.Record(Schema.String, Schema.Literals(["read", "write"])),
      "runs-on": Schema.String,
      "timeout-minutes": Schema.Int,
      steps: Schema.Array(Step)
    })
  })
})
const Pipeline = Schema.Struct({
  gate: Schema.Struct({
    image: Schema.String,
    timeout: Schema.String,
    script: Schema.Array(Schema.String),
    after_script: Schema.Array(Schema.String),
    artifacts: Schema.Struct({
      when: Schema.Literal("always"),
      paths: Schema.Array(Schema.String),
      reports: Schema.Struct({ junit: Schema.String })
    })
  })
})
const strictly = { onExcessProperty: "error" } as const

/** The files that a gate and the start before it write. */
const writtenBy = (script: string) =>
  [...script.matchAll(/(?:--junit|--comment|>) (\S+)/g)].flatMap(([, file = ""]) =>
    file.startsWith("&") ? [] : [file]
  )

// CommandsInDocuments.integration.test.ts checks the flags of the commands.
describe("docs/guides/ci.md", () => {
  it("has a workflow of GitHub whose steps start, gate, and keep what was written", () => {
    const { gate } = Schema.decodeUnknownSync(Workflow, strictly)(gitHub).jobs
    const scripts = gate.steps.flatMap(({ run = "" }) => (run === "" ? [] : [run]))
    assert.match(
      scripts.join("\n"),
      /runplane dev[\s\S]*\/readyz[\s\S]*runplane gate gate\.yaml.* --strict .*--github$/m
    )
    assert.include(scripts.join("\n"), COMMENT_MARK)
    const upload = gate.steps.at(-1)
    assert.strictEqual(upload?.if, "always()")
    assert.sameMembers(String(upload?.with?.["path"]).trim().split("\n"), writtenBy(scripts.join("\n")))
    for (const { run, uses } of gate.steps) assert.isTrue((run === undefined) !== (uses === undefined))
  })

  it("has a pipeline of GitLab with the JUnit report", () => {
    const { gate } = Schema.decodeUnknownSync(Pipeline, strictly)(gitLab)
    const script = gate.script.join("\n")
    assert.match(script, /runplane dev[\s\S]*:\{3001,3000\}\/readyz\n.*runplane gate gate\.yaml/)
    assert.sameMembers([...gate.artifacts.paths], writtenBy(script))
    assert.include(script, `--junit ${gate.artifacts.reports.junit}`)
    assert.include(gate.after_script.join("\n"), "body@gate-comment.md")
    assert.deepStrictEqual(others, [])
  })

  it("shows annotations as the gate prints them", () => {
    const shown = /^```text\n([\s\S]*?)^```$/m.exec(guide)?.[1]?.trimEnd().split("\n")
    const found = "4 runs ended with cancelled, first 1a03c6c9-..."
    const lines = annotations({
      gate: "g",
      verdict: "fail",
      spentUsd: 0,
      cases: [
        {
          file: "gate.yaml",
          line: 2,
          name: "cold standby",
          scenarioRef: "incident/region-failover@1.0.0",
          verdict: "fail",
          checks: [
            { name: "mustNot", verdict: "fail", message: found },
            { name: "agreement", verdict: "inconclusive", message: "no run reached a decision, 4 cancelled" }
          ],
          warnings: [],
          changes: [],
          stability: {
            n: 0,
            excluded: { byReason: { cancelled: 4 } },
            outcomes: [],
            agreement: { rate: 0, low: 0, high: 1, method: "wilson", confidence: 0.95 },
            mindChanges: 0,
            cost: { p50: 0, p95: 0 },
            durationMs: { p50: 0, p95: 0 }
          },
          flips: [],
          runs: []
        }
      ]
    })
    assert.deepStrictEqual(shown, lines)
  })
})
