import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { usageProblem } from "../../CliFailure.ts"
import { addressOf, checkedKey, connectionFlags } from "../../Connection.ts"
import { readText } from "../../FileText.ts"
import { output, printDone, printRows } from "../../Output.ts"
import {
  nameInUse,
  type Profile,
  type Profiles,
  profileOf,
  profilesFile,
  readProfiles,
  writeProfiles
} from "../../ProfileFile.ts"
import { textOfStdin } from "../common/Input.ts"

const NAME = /^[\p{L}\p{N}][\p{L}\p{N}._@-]{0,63}$/u

const name = Argument.String("name").pipe(Argument.withDescription("Name of the profile"))

/** A name that needs no quotes in a shell. */
const checkedName = (text: string) =>
  NAME.test(text)
    ? Effect.void
    : Effect.fail(
        usageProblem(
          `the name "${text}" must be letters, digits, ".", "_", "@" and "-", and begin with one of the first two`
        )
      )

const MOST_KEY_BYTES = 64 * 1024

const readKey = (file: string) =>
  file === "-" ? textOfStdin : readText(file, MOST_KEY_BYTES, "name a file with the key, or - for standard input")

/** What is shown of a profile: everything but its key. */
interface Shown {
  readonly name: string
  readonly url?: string
  readonly launcherUrl?: string
  readonly hasKey: boolean
  readonly inUse: boolean
}

const shownOf = (called: string, { apiKey, launcherUrl, url }: Profile, used: string): Shown => ({
  name: called,
  ...(url !== undefined && { url }),
  ...(launcherUrl !== undefined && { launcherUrl }),
  hasKey: apiKey !== undefined,
  inUse: called === used
})

const add = Command.make(
  "add",
  {
    name,
    keyFile: Flag.String("key-file").pipe(
      Flag.withDescription("File with the API key; - for standard input; else RUNPLANE_API_KEY"),
      Flag.optional
    ),
    replace: Flag.Boolean("replace").pipe(
      Flag.withDescription("Replace the profile of this name"),
      Flag.withDefault(false)
    )
  },
  ({ keyFile, name, replace }) =>
    Effect.gen(function* () {
      yield* output
      yield* checkedName(name)
      const { launcherUrl, url } = yield* connectionFlags
      const profiles = yield* readProfiles(process.env)
      if (Object.hasOwn(profiles, name) && !replace) {
        return yield* usageProblem(`there is a profile "${name}" already; --replace replaces it`)
      }
      if (url === undefined && launcherUrl === undefined) {
        return yield* usageProblem("a profile needs --url, --launcher-url or both")
      }
      const apiKey = Option.isSome(keyFile)
        ? (yield* readKey(keyFile.value)).trim()
        : process.env["RUNPLANE_API_KEY"] || undefined
      const profile = {
        ...(url !== undefined && { url: yield* addressOf(url) }),
        ...(launcherUrl !== undefined && { launcherUrl: yield* addressOf(launcherUrl) }),
        ...(apiKey !== undefined && { apiKey: yield* checkedKey(apiKey) }),
        ...(profiles[name]?.inUse === true && { inUse: true })
      }
      yield* writeProfiles({ ...profiles, [name]: profile }, process.env)
      yield* printDone(
        `profile ${name} is in ${profilesFile(process.env)}, ${apiKey === undefined ? "without a key" : "with a key"}`,
        shownOf(name, profile, nameInUse({ ...profiles, [name]: profile }, process.env))
      )
    })
).pipe(Command.withDescription("Add a profile with the addresses of --url and --launcher-url, and a key"))

const use = Command.make("use", { name }, ({ name }) =>
  Effect.gen(function* () {
    yield* output
    const profiles = yield* readProfiles(process.env)
    yield* profileOf(profiles, name, profilesFile(process.env))
    const chosen = Object.entries(profiles).map(([called, { inUse: _, ...profile }]): [string, Profile] => [
      called,
      called === name ? { ...profile, inUse: true } : profile
    ])
    const changed: Profiles = Object.fromEntries(chosen)
    yield* writeProfiles(changed, process.env)
    const used = nameInUse(changed, process.env)
    const note = used === name ? "" : `, after RUNPLANE_PROFILE, which names ${used}`
    yield* printDone(`profile ${name} is in use${note}`, shownOf(name, changed[name] ?? {}, used))
  })
).pipe(Command.withDescription("Use a profile in every command without --profile and RUNPLANE_PROFILE"))

const list = Command.make("list", {}, () =>
  Effect.gen(function* () {
    const { profile } = yield* connectionFlags
    const profiles = yield* readProfiles(process.env)
    const used = profile ?? nameInUse(profiles, process.env)
    yield* printRows<Shown>(
      [
        { title: "PROFILE", text: ({ name }) => name },
        { title: "IN USE", text: ({ inUse }) => (inUse ? "yes" : "") },
        { title: "KEY", text: ({ hasKey }) => (hasKey ? "yes" : "") },
        { title: "CONTROL PLANE", text: ({ url }) => url ?? "", elastic: true },
        { title: "LAUNCH SERVICE", text: ({ launcherUrl }) => launcherUrl ?? "" }
      ],
      Object.entries(profiles).map(([called, profile]) => shownOf(called, profile, used))
    )
  })
).pipe(Command.withDescription("List the profiles, without their keys"))

const remove = Command.make("remove", { name }, ({ name }) =>
  Effect.gen(function* () {
    yield* output
    const profiles = yield* readProfiles(process.env)
    yield* profileOf(profiles, name, profilesFile(process.env))
    yield* writeProfiles(
      Object.fromEntries(Object.entries(profiles).filter(([called]) => called !== name)),
      process.env
    )
    yield* printDone(`profile ${name} is removed`, { removed: name })
  })
).pipe(Command.withDescription("Remove a profile with its key"))

/** `runplane profiles ...` */
export const profiles = Command.make("profiles").pipe(
  Command.withDescription("Named addresses and keys of installations"),
  Command.withSubcommands([add, use, list, remove])
)
