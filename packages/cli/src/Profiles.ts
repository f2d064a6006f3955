import { homedir } from "node:os"
import { join } from "node:path"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Schema from "effect/Schema"
import { usageProblem } from "./CliFailure.ts"

/** The addresses of one installation of Runplane, and the key for it. */
export const Profile = Schema.Struct({
  url: Schema.optionalKey(Schema.String),
  launcherUrl: Schema.optionalKey(Schema.String),
  apiKey: Schema.optionalKey(Schema.String)
})
export type Profile = typeof Profile.Type

const Profiles = Schema.fromJsonString(Schema.Record(Schema.String, Profile))

type Environment = Readonly<Record<string, string | undefined>>

/**
 * The file of the profiles: `runplane/profiles.json` in the XDG configuration folder (docs/reference/cli.md#profiles).
 */
export const profilesFile = (env: Environment): string =>
  join(env["XDG_CONFIG_HOME"] || join(homedir(), ".config"), "runplane", "profiles.json")

/** The profile of that name; without a name `default`, which need not exist. */
export const readProfile = Effect.fnUntraced(function* (name: string | undefined, env: Environment) {
  const fs = yield* FileSystem.FileSystem
  const file = profilesFile(env)
  const text = yield* Effect.option(fs.readFileString(file))
  if (text._tag === "None") {
    if (name === undefined) return {} satisfies Profile as Profile
    return yield* usageProblem(`there is no profile "${name}": ${file} cannot be read`)
  }
  const profiles = yield* Schema.decodeUnknownEffect(Profiles)(text.value).pipe(
    Effect.mapError(() =>
      usageProblem(`${file} is not a JSON object of profiles, each with url, launcherUrl and apiKey as texts`)
    )
  )
  const found = Object.hasOwn(profiles, name ?? "default") ? profiles[name ?? "default"] : undefined
  if (found === undefined && name !== undefined) {
    return yield* usageProblem(
      `${file} has no profile "${name}"; it has ${Object.keys(profiles).join(", ") || "no profile"}`
    )
  }
  return found ?? {}
})
