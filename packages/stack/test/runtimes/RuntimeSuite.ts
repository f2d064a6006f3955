import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { assert, layer } from "@effect/vitest"
import type { RunId } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Semaphore from "effect/Semaphore"
import { type Account, accountOf } from "./Account.ts"
import { ControlPlaneUnderTest } from "./ControlPlaneUnderTest.ts"
import { registerPolicies } from "./Policies.ts"
import type { RuntimeUnderTest } from "./RuntimeUnderTest.ts"
import { lifecycleScenarios } from "./scenarios/Lifecycle.ts"
import { modeScenarios } from "./scenarios/Modes.ts"
import { longSession, observationScenarios, reconnection } from "./scenarios/Observation.ts"
import type { Scenario, Surroundings } from "./scenarios/Scenario.ts"

/** Scenarios played at the same time. Most of the time of each is waiting. */
const CONCURRENT = 8

const together: ReadonlyArray<Scenario> = [...modeScenarios, ...lifecycleScenarios, ...observationScenarios]

/** The scenarios under way: all are begun at once, and each test waits for its own. */
class Plays extends Context.Service<Plays, ReadonlyMap<string, Fiber.Fiber<RunId | undefined, unknown>>>()(
  "runplane/stack/test/Plays"
) {
  static readonly layer = Layer.effect(
    Plays,
    Effect.gen(function* () {
      yield* registerPolicies
      const positions = yield* Semaphore.make(CONCURRENT)
      const context = yield* Effect.context<Surroundings>()
      const fibers = new Map<string, Fiber.Fiber<RunId | undefined, unknown>>()
      for (const { name, play } of together) {
        const alone = positions.withPermit(Effect.scoped(play)).pipe(Effect.provideContext(context))
        fibers.set(name, yield* Effect.forkScoped(alone))
      }
      return fibers
    })
  )
}

/**
 * Plays every scenario through a whole control plane against the runtime of the layer, and compares what log,
 * projection and status of each run end up with: with what the scenario says, and with the account that is recorded for
 * all runtimes.
 */
export const runtimeSuite = <E>(name: string, runtime: Layer.Layer<RuntimeUnderTest, E>) => {
  const world = Plays.layer.pipe(Layer.provideMerge(ControlPlaneUnderTest.layer), Layer.provideMerge(runtime))
  layer(world, { excludeTestServices: true, timeout: "2 minutes" })(name, (it) => {
    for (const scenario of together) {
      it.effect(`records ${scenario.name}`, () =>
        Effect.gen(function* () {
          const fiber = (yield* Plays).get(scenario.name)
          assert(fiber !== undefined)
          yield* check(scenario, yield* Fiber.join(fiber))
        })
      )
    }
    it.effect(`records ${reconnection.name}`, () => playAlone(reconnection))
  })
}

/** Plays one session that keeps the machine busy, so `npm test` plays it on no runtime. */
export const longSessionSuite = <E>(name: string, runtime: Layer.Layer<RuntimeUnderTest, E>) => {
  const world = ControlPlaneUnderTest.layer.pipe(Layer.provideMerge(runtime))
  layer(world, { excludeTestServices: true, timeout: "2 minutes" })(name, (it) => {
    it.effect(`records ${longSession.name}`, () => playAlone(longSession))
  })
}

const playAlone = (scenario: Scenario) =>
  Effect.flatMap(Effect.scoped(scenario.play), (runId) => check(scenario, runId))

const check = ({ name }: Scenario, runId: RunId | undefined) =>
  runId === undefined ? Effect.void : Effect.map(accountOf(runId), (account) => checkAccount(name, account))

const ACCOUNTS = fileURLToPath(new URL("accounts/", import.meta.url))

/** `RUNTIME_ACCOUNTS=record` writes the accounts, to be done with the real runtime, instead of comparing with them. */
const checkAccount = (name: string, account: Account) => {
  const file = `${ACCOUNTS}${name.replaceAll(/[^a-z0-9]+/gi, "-")}.json`
  const recorded = `${JSON.stringify(account, null, 2)}\n`
  if (process.env["RUNTIME_ACCOUNTS"] === "record") {
    mkdirSync(ACCOUNTS, { recursive: true })
    writeFileSync(file, recorded)
    return
  }
  assert(existsSync(file), `there is no account of ${name}: record it with the real runtime`)
  assert.deepStrictEqual(JSON.parse(recorded), JSON.parse(readFileSync(file, "utf8")))
}
