import { MAX_CATALOGUE_FILE } from "@runplane/domain"
import * as Clock from "effect/Clock"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import { failed, usageProblem } from "../../CliFailure.ts"
import { output, printFacts } from "../../Output.ts"
import { bytesOf, type Download, fetchBytes, isAddress } from "../common/Download.ts"
import { catalogueModule } from "./CatalogueModule.ts"

const LIST: Download = { what: "model prices", setBy: "--from", most: MAX_CATALOGUE_FILE, timeoutMs: 60_000 }

/** Names of one line; JSON has all. */
const MOST_NAMES = 20

/** The list, and the time of its file; that of the download for an address. */
const readList = Effect.fnUntraced(function* (source: string) {
  if (isAddress(source)) {
    return { bytes: yield* fetchBytes(source, LIST), at: new Date(yield* Clock.currentTimeMillis) }
  }
  const bytes = yield* bytesOf(source, LIST.most)
  const fs = yield* FileSystem.FileSystem
  const info = yield* Effect.option(fs.stat(source))
  const at = Option.flatMap(info, ({ mtime }) => mtime)
  return { bytes, at: Option.isSome(at) ? at.value : new Date(yield* Clock.currentTimeMillis) }
})

/** The list that is replaced; undefined where there is none that can be read. */
const earlierList = (file: string) =>
  Effect.map(Effect.option(bytesOf(file, LIST.most)), (bytes) => Option.getOrUndefined(Option.map(bytes, textOf)))

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString("utf8")

/** Replaces the file in one step, so that a service that starts reads the old list or the new one. */
const replaceFile = Effect.fnUntraced(function* (file: string, bytes: Uint8Array, changedAt: Date) {
  const fs = yield* FileSystem.FileSystem
  const next = `${file}.${process.pid}.tmp`
  const write = Effect.scoped(
    Effect.gen(function* () {
      const handle = yield* fs.open(next, { flag: "wx" })
      yield* handle.writeAll(bytes)
      yield* handle.sync
    })
  )
  yield* write.pipe(
    Effect.andThen(fs.utimes(next, changedAt, changedAt)),
    Effect.andThen(fs.rename(next, file)),
    Effect.onError(() => Effect.ignore(fs.remove(next, { force: true }))),
    Effect.mapError(({ reason }) => failed(`${file} cannot be written (${reason._tag})`))
  )
})

const namesText = (names: ReadonlyArray<string>): string =>
  names.length === 0
    ? "0"
    : `${names.length}: ${names.slice(0, MOST_NAMES).join(", ")}${names.length > MOST_NAMES ? ", ..." : ""}`

/** `runplane prices update` (docs/reference/prices.md#catalogue). */
export const update = Command.make(
  "update",
  {
    from: Flag.String("from").pipe(
      Flag.withDescription("File or address of the list; without it the address of its maintainers"),
      Flag.optional
    ),
    to: Flag.String("to").pipe(Flag.withDescription("File to write"), Flag.withDefault("model-prices.json"))
  },
  ({ from, to }) =>
    Effect.gen(function* () {
      // Flags that contradict each other fail before any change.
      yield* output
      const { CATALOGUE_URL, compareCatalogues } = yield* catalogueModule
      const source = Option.getOrElse(from, () => CATALOGUE_URL)
      const { at, bytes } = yield* readList(source)
      const refuse = isAddress(source) ? failed : usageProblem
      const changes = yield* Effect.fromResult(compareCatalogues(textOf(bytes), yield* earlierList(to))).pipe(
        Effect.mapError(({ message }) => refuse(`${source} ${message}`))
      )
      yield* replaceFile(to, bytes, at)
      const date = at.toISOString().slice(0, 10)
      const { added, changed, models, providers, removed } = changes
      yield* printFacts(
        [
          ["File", `${to}; MODEL_PRICES_FILE names it to the service`],
          ["Source", source],
          ["Date", date],
          ["Models", `${models.toLocaleString("en-US")} of ${providers} providers`],
          ["Added", namesText(added)],
          ["Changed", namesText(changed)],
          ["Removed", namesText(removed)]
        ],
        { file: to, source, date, ...changes }
      )
    })
).pipe(Command.withDescription("Write a newer catalogue of model prices to a file for MODEL_PRICES_FILE"))
