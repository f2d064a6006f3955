import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, it } from "@effect/vitest"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import { type BenchOptions, benchCommand } from "../src/CommandLine.ts"

/** What the bench would be run with; fails where the command line is refused. */
const optionsOf = (...args: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const options = yield* Ref.make<BenchOptions | undefined>(undefined)
    const command = benchCommand((given) => Ref.set(options, given))
    yield* Command.runWith(command, { version: "test", renderErrors: false })(args)
    return yield* Ref.get(options)
  }).pipe(Effect.provide(NodeServices.layer))

it.effect("runs everything three times by default", () =>
  Effect.gen(function* () {
    assert.deepStrictEqual(yield* optionsOf(), {
      json: false,
      repetitions: 3,
      scenarios: ["throughput", "latency", "tails", "posts", "cold", "idle", "long-run", "large", "standstill"],
      profiles: undefined,
      size: undefined
    })
  })
)

it.effect("chooses scenarios, repetitions and what is written", () =>
  Effect.gen(function* () {
    assert.deepStrictEqual(
      yield* optionsOf("--only", "latency,posts", "--repeat", "5", "--json", "--profile", "out", "--size", "7"),
      { json: true, repetitions: 5, scenarios: ["latency", "posts"], profiles: "out", size: 7 }
    )
  })
)

it.effect.each([
  [["--only", "speed"], /unknown scenario "speed"/],
  [["--repeat", "0"], /between 1 and 100/],
  [["--repeat", "many"], /many/],
  [["--size", "-1"], /between 0/],
  [["--fast"], /--fast/]
] as const)("refuses %j", ([args, problem]) =>
  Effect.gen(function* () {
    const refused = yield* Effect.flip(optionsOf(...args))
    const problems = refused._tag === "ShowHelp" ? refused.errors.map(({ message }) => message) : [refused.message]
    assert.match(problems.join(), problem)
  })
)
