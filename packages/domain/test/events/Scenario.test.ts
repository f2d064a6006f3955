import { assert, describe, it } from "@effect/vitest"
import { launchedScenarioOf, OTLP_RUNTIME_KIND, scenarioOf, scenarioOfRecord } from "@runplane/domain"

describe("the scenario of a run", () => {
  it.each([
    ["its source", "macp", { sourceRef: "a/b@1", scenarioRef: "c" }, "a/b@1"],
    ["its reference, without a source", "macp", { sourceRef: undefined, scenarioRef: "c" }, "c"],
    ["its reference, when the source is empty", "macp", { sourceRef: "", scenarioRef: "c" }, "c"],
    ["the name that its spans give it", OTLP_RUNTIME_KIND, { sourceRef: "shop", scenarioRef: "refund" }, "refund"],
    ["its service, when its spans give no name", OTLP_RUNTIME_KIND, { sourceRef: "shop", scenarioRef: "" }, "shop"],
    ["unknown without both", "macp", { sourceRef: undefined, scenarioRef: undefined }, undefined],
    ["unknown with two empty texts", OTLP_RUNTIME_KIND, { sourceRef: "", scenarioRef: "" }, undefined]
  ])("is %s", (_, runtimeKind, references, expected) => {
    assert.strictEqual(scenarioOf({ runtimeKind, ...references }), expected)
  })

  it.each([
    [{ runtimeKind: "macp", sourceRef: "a", metadata: { scenarioRef: "b" } }, "a", "a"],
    [{ runtimeKind: "macp", metadata: { scenarioRef: "b" } }, "b", "b"],
    [{ runtimeKind: "macp", metadata: { scenarioRef: 7 } }, undefined, undefined],
    [{ runtimeKind: OTLP_RUNTIME_KIND, sourceRef: "shop", metadata: { scenarioRef: "refund" } }, "refund", undefined]
  ])("is read from a record, and nothing launched a run from OpenTelemetry: %j", (record, scenario, launched) => {
    assert.strictEqual(scenarioOfRecord(record), scenario)
    assert.strictEqual(launchedScenarioOf(record), launched)
  })
})
