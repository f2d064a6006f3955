import { homedir } from "node:os"
import { dirname, join } from "node:path"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Schema from "effect/Schema"
import { usageProblem } from "./CliFailure.ts"

/** The addresses of one installation of Runplane, and the key for it. */
export const Profile = Schema.Struct({
  url: Schema.optionalKey(Schema.String),
  launcherUrl: Schema.optionalKey(Schema.String),
  apiKey: Schema.optionalKey(Schema.String),
  /** `profiles use` has chosen it. */
  inUse: Schema.optionalKey(Schema.Boolean)
})
export type Profile = typeof Profile.Type

export type Profiles = Readonly<Record<string, Profile>>

const ProfilesText = Schema.fromJsonString(Schema.Record(Schema.String, Profile))

type Environment = Readonly<Record<string, string | undefined>>

/**
 * The file of the profiles: `runplane/profiles.json` in the XDG configuration folder (docs/reference/cli.md#profiles).
 */
export const profilesFile = (env: Environment): string =>
  join(env["XDG_CONFIG_HOME"] || join(homedir(), ".config"), "runplane", "profiles.json")

/** The permission to read, of the group and of all others. */
const READ_BY_OTHERS = 0o044

/** All profiles; undefined without a file. Warns about keys that others can read. */
const readFile = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const text = yield* fs.readFileString(file).pipe(
    Effect.catchIf(
      ({ reason }) => reason._tag === "NotFound",
      () => Effect.undefined
    ),
    Effect.mapError(({ reason }) => usageProblem(`${file} cannot be read (${reason._tag})`))
  )
  if (text === undefined) return undefined
  const profiles: Profiles = yield* Schema.decodeUnknownEffect(ProfilesText)(text).pipe(
    Effect.mapError(() =>
      usageProblem(`${file} is not a JSON object of profiles, each with url, launcherUrl and apiKey as texts`)
    )
  )
  const hasKeys = Object.values(profiles).some(({ apiKey }) => apiKey !== undefined)
  if (hasKeys && process.platform !== "win32") {
    const { mode } = yield* Effect.orDie(fs.stat(file))
    if ((mode & READ_BY_OTHERS) !== 0) {
      yield* Console.error(`runplane: ${file} has keys, and other users can read it: chmod 600 ${file}`)
    }
  }
  return profiles
})

/** All profiles by name; none without a file. */
export const readProfiles = (env: Environment) => Effect.map(readFile(profilesFile(env)), (profiles) => profiles ?? {})

/** Replaces the file; only its owner can read the new one. */
export const writeProfiles = Effect.fnUntraced(function* (profiles: Profiles, env: Environment) {
  const fs = yield* FileSystem.FileSystem
  const file = profilesFile(env)
  const fresh = `${file}.${process.pid}`
  yield* Effect.gen(function* () {
    yield* fs.makeDirectory(dirname(file), { recursive: true, mode: 0o700 })
    yield* fs.writeFileString(fresh, `${JSON.stringify(profiles, undefined, 2)}\n`, { mode: 0o600 })
    yield* fs.rename(fresh, file)
  }).pipe(Effect.mapError(({ reason }) => usageProblem(`${file} cannot be written (${reason._tag})`)))
})

/** The profile that a command without a flag uses: that of the environment, the chosen one, or `default`. */
export const nameInUse = (profiles: Profiles, env: Environment): string =>
  env["RUNPLANE_PROFILE"] || Object.keys(profiles).find((name) => profiles[name]?.inUse === true) || "default"

/** The profile of that name; without a name the one that `profiles use` has chosen, or `default`, if it exists. */
export const readProfile = Effect.fnUntraced(function* (name: string | undefined, env: Environment) {
  const file = profilesFile(env)
  const profiles = yield* readFile(file)
  if (profiles === undefined) {
    if (name === undefined) return {} satisfies Profile as Profile
    return yield* usageProblem(
      `the profile "${name}" does not exist, nor does the file ${file}; runplane profiles add makes both`
    )
  }
  return yield* name === undefined
    ? Effect.succeed(profiles[nameInUse(profiles, {})] ?? {})
    : profileOf(profiles, name, file)
})

/** The profile of that name among those of a file. */
export const profileOf = (profiles: Profiles, name: string, file: string) => {
  const found = Object.hasOwn(profiles, name) ? profiles[name] : undefined
  return found === undefined
    ? Effect.fail(
        usageProblem(`${file} has no profile "${name}"; it has ${Object.keys(profiles).join(", ") || "no profile"}`)
      )
    : Effect.succeed(found)
}
