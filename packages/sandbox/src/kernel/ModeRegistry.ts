import type { ModeDescriptor } from "@runplane/runtime"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Mode, ModeInfo } from "../core/Mode.ts"
import { isStandardMode, MODES } from "../core/Modes.ts"
import { descriptorProblem, registeredMode } from "../core/modes/RegisteredMode.ts"
import { Hub } from "./Mailbox.ts"

/** A change of the modes is refused; the text travels in the answer, never as a gRPC status. */
export class ModeRefused extends Data.TaggedError("ModeRefused")<{ readonly message: string }> {}

/**
 * Undelivered changes of one WatchModeRegistry; a receiver over it ends silently
 * (docs/internals/runtime.md#watch-streams).
 */
const WATCH_CAPACITY = 16

/** Modes that may be registered beside the built-in ones. */
export const MAX_REGISTERED_MODES = 256

interface Entry {
  readonly mode: Mode
  readonly info: ModeInfo
  readonly isBuiltIn: boolean
  readonly isStandard: boolean
}

/**
 * The modes of the runtime: the built-in ones, and those that callers register
 * (docs/internals/runtime.md#extension-modes).
 */
export class ModeRegistry extends Context.Service<
  ModeRegistry,
  {
    /** Adds an extension mode, which knows nothing of its messages but their types. */
    readonly register: (descriptor: ModeDescriptor) => Effect.Effect<void, ModeRefused>
    /** Sessions of the mode go on. */
    readonly unregister: (mode: string) => Effect.Effect<void, ModeRefused>
    /** Makes an extension mode a standard one, under another name when one is given; answers its name. */
    readonly promote: (mode: string, name: string) => Effect.Effect<string, ModeRefused>
    readonly find: (mode: string) => Mode | undefined
    /** In the order of their registration. */
    readonly list: (which: "standard" | "extension") => ReadonlyArray<ModeInfo>
    /** One item a change. */
    readonly changes: (signal: AbortSignal) => AsyncGenerator<void>
  }
>()("runplane/sandbox/ModeRegistry") {
  static readonly layer: Layer.Layer<ModeRegistry> = Layer.sync(ModeRegistry, () => make())
}

const make = (): ModeRegistry["Service"] => {
  const entries = new Map<string, Entry>(
    MODES.map((mode) => {
      const { info } = mode
      return [info.mode, { mode, info, isBuiltIn: true, isStandard: isStandardMode(info.mode) }]
    })
  )
  const hub = new Hub<void>(WATCH_CAPACITY, "end")
  const refuse = (message: string) => Effect.fail(new ModeRefused({ message }))

  const register = Effect.fn("ModeRegistry.register")(function* (descriptor: ModeDescriptor) {
    const problem = descriptorProblem(descriptor)
    if (problem !== undefined) return yield* refuse(problem)
    if (entries.has(descriptor.mode)) return yield* refuse(`mode '${descriptor.mode}' is already registered`)
    if (entries.size - MODES.length >= MAX_REGISTERED_MODES) {
      return yield* refuse(`more than ${MAX_REGISTERED_MODES} modes cannot be registered`)
    }
    const mode = registeredMode(descriptor)
    entries.set(descriptor.mode, { mode, info: mode.info, isBuiltIn: false, isStandard: false })
    hub.publish()
  })

  const unregister = Effect.fn("ModeRegistry.unregister")(function* (mode: string) {
    const entry = entries.get(mode)
    if (entry === undefined) return yield* refuse(`mode '${mode}' not found`)
    if (entry.isBuiltIn) return yield* refuse(`cannot unregister built-in mode '${mode}'`)
    if (entry.isStandard) return yield* refuse(`cannot unregister standards-track mode '${mode}'`)
    entries.delete(mode)
    hub.publish()
  })

  const promote = Effect.fn("ModeRegistry.promote")(function* (mode: string, given: string) {
    const entry = entries.get(mode)
    if (entry === undefined) return yield* refuse(`mode '${mode}' not found`)
    if (entry.isStandard) return yield* refuse(`mode '${mode}' is already standards-track`)
    const name = given === "" ? mode : given
    if (name !== mode && name.startsWith("macp.mode.")) {
      return yield* refuse(`cannot promote '${mode}' into the reserved macp.mode.* namespace`)
    }
    if (name.trim() === "") return yield* refuse("promotion target name must not be empty")
    if (name !== mode && entries.has(name)) return yield* refuse(`cannot promote: target name '${name}' already exists`)
    const info = { ...entry.info, mode: name }
    entries.delete(mode)
    entries.set(name, { ...entry, info, mode: { ...entry.mode, info, isStrict: true }, isStandard: true })
    hub.publish()
    return name
  })

  return ModeRegistry.of({
    register,
    unregister,
    promote,
    find: (mode) => entries.get(mode)?.mode,
    list: (which) =>
      [...entries.values()].filter(({ isStandard }) => isStandard === (which === "standard")).map(({ info }) => info),
    changes: (signal) => hub.subscribe(signal)
  })
}
