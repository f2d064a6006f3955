import type { LaunchRejected } from "@runplane/api"
import * as Result from "effect/Result"
import { invalidScenarioRef } from "../common/LaunchErrors.ts"

export interface ScenarioRef {
  readonly pack: string
  readonly scenario: string
  readonly version: string
}

/** `<pack>/<scenario>@<version>`: split at the last `@`, then at the first `/` before it. */
export const parseScenarioRef = (scenarioRef: string): Result.Result<ScenarioRef, LaunchRejected> => {
  const refuse = (problem: string) => Result.fail(invalidScenarioRef(scenarioRef, problem))
  const at = scenarioRef.lastIndexOf("@")
  if (at < 0) return refuse("missing '@'")
  const name = scenarioRef.slice(0, at)
  const slash = name.indexOf("/")
  if (slash < 0) return refuse("missing '/'")
  const ref = { pack: name.slice(0, slash), scenario: name.slice(slash + 1), version: scenarioRef.slice(at + 1) }
  return ref.pack === "" || ref.scenario === "" || ref.version === "" ? refuse("empty component") : Result.succeed(ref)
}
