import { assert, describe, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import { traceSampler } from "../../src/traces/TraceSampler.ts"

const PARENTS = "remoteParentSampled=AlwaysOnSampler, remoteParentNotSampled=AlwaysOffSampler"
const LOCALS = "localParentSampled=AlwaysOnSampler, localParentNotSampled=AlwaysOffSampler"
const parentBased = (root: string) => `ParentBased{root=${root}, ${PARENTS}, ${LOCALS}}`

// docs/reference/admin.md#tracing
describe("the sampler of traces", () => {
  const read = (env: Readonly<Record<string, string>>) => {
    const lines: Array<string> = []
    const layer = Layer.mergeAll(
      Logger.layer([Logger.make(({ message }) => void lines.push(String(message)))]),
      ConfigProvider.layer(ConfigProvider.fromEnv({ env }))
    )
    return traceSampler.pipe(
      Effect.map((sampler) => [sampler.toString(), ...lines]),
      Effect.provide(layer)
    )
  }

  it.effect.each([
    [{}, [parentBased("AlwaysOnSampler")]],
    [{ OTEL_TRACES_SAMPLER: "always_off" }, ["AlwaysOffSampler"]],
    [{ OTEL_TRACES_SAMPLER: "parentbased_always_off" }, [parentBased("AlwaysOffSampler")]],
    [{ OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "0.25" }, ["TraceIdRatioBased{0.25}"]],
    [
      { OTEL_TRACES_SAMPLER: "parentbased_traceidratio", OTEL_TRACES_SAMPLER_ARG: "0" },
      [parentBased("TraceIdRatioBased{0}")]
    ],
    [
      { OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "25 %" },
      ["TraceIdRatioBased{1}", 'OTEL_TRACES_SAMPLER_ARG: "25 %" is not a share from 0 to 1; 1 counts']
    ],
    [
      { OTEL_TRACES_SAMPLER: "remote" },
      [parentBased("AlwaysOnSampler"), 'OTEL_TRACES_SAMPLER: "remote" is not known; parentbased_always_on counts']
    ]
  ] as const)("%j", ([env, expected]) =>
    Effect.map(read(env), (found) => assert.deepStrictEqual<ReadonlyArray<string>>(found, expected))
  )
})
