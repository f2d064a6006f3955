import * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"

/** The agent was started without a bootstrap file, or its file cannot be read or understood. */
export class BootstrapUnreadable extends Data.TaggedError("BootstrapUnreadable")<{ readonly message: string }> {}

const JsonObject = Schema.Record(Schema.String, Schema.Json)

export const SessionStartBlock = Schema.Struct({
  intent: Schema.String,
  participants: Schema.Array(Schema.String),
  ttl_ms: Schema.Int,
  max_suspend_ms: Schema.optional(Schema.Int),
  mode_version: Schema.String,
  configuration_version: Schema.String,
  policy_version: Schema.optional(Schema.String),
  context_id: Schema.optional(Schema.String),
  /** Values are base64. */
  extensions: Schema.optional(Schema.Record(Schema.String, Schema.String))
})

export type SessionStartBlock = typeof SessionStartBlock.Type

export const KickoffBlock = Schema.Struct({
  message_type: Schema.String,
  payload_type: Schema.optional(Schema.String),
  payload: JsonObject
})

const CancelCallback = Schema.Struct({
  host: Schema.NonEmptyString,
  port: Schema.Int,
  path: Schema.String,
  bearer: Schema.optional(Schema.String)
})

const PersonWait = Schema.Struct({
  participant_id: Schema.NonEmptyString,
  /** Whether the person may evaluate or object, which no vote may precede. */
  evaluates: Schema.Boolean,
  /** From the question on; absent: until the session ends. */
  deadline_ms: Schema.optional(Schema.Int)
})

/** What a launched agent learns about itself and its session. Unknown keys are ignored. */
export const BootstrapFile = Schema.Struct({
  participant_id: Schema.NonEmptyString,
  session_id: Schema.NonEmptyString,
  mode: Schema.NonEmptyString,
  /** `host:port` or a URL. */
  runtime_url: Schema.NonEmptyString,
  auth_token: Schema.optional(Schema.String),
  secure: Schema.optional(Schema.Boolean),
  participants: Schema.Array(Schema.String).pipe(Schema.withDecodingDefault(Effect.succeed([]))),
  mode_version: Schema.String.pipe(Schema.withDecodingDefault(Effect.succeed("1.0.0"))),
  configuration_version: Schema.String.pipe(Schema.withDecodingDefault(Effect.succeed("config.default"))),
  policy_version: Schema.optional(Schema.String),
  /** Only in the initiator's file. */
  initiator: Schema.optional(
    Schema.Struct({ session_start: SessionStartBlock, kickoff: Schema.optional(KickoffBlock) })
  ),
  /** The participants that are people, or agents that speak A2A. */
  wait_for: Schema.optional(Schema.Array(PersonWait)),
  cancel_callback: Schema.optional(CancelCallback),
  /** An entry of `OTEL_EXPORTER_OTLP_HEADERS`: its token lets the spans of the agent join the run of the session. */
  otlp_headers: Schema.optional(Schema.String),
  metadata: Schema.Struct({
    role: Schema.optional(Schema.String),
    framework: Schema.optional(Schema.String),
    agent_ref: Schema.optional(Schema.String),
    /** Seed and model of the case of a gate. */
    seed: Schema.optional(Schema.Union([Schema.String, Schema.Finite])),
    model: Schema.optional(Schema.String),
    policy_hints: Schema.optional(JsonObject),
    session_context: Schema.optional(JsonObject)
  }).pipe(Schema.withDecodingDefault(Effect.succeed({})))
})

export type BootstrapFile = typeof BootstrapFile.Type

/**
 * The current credential of the bootstrap file: the host of the agent renews it there before the old one ends
 * (docs/internals/launch.md#renewal). Undefined without a readable file.
 */
export const RenewedCredential = Context.Reference<Effect.Effect<string | undefined>>(
  "runplane/agents/RenewedCredential",
  { defaultValue: () => Effect.succeed(undefined) }
)
export class Bootstrap extends Context.Service<Bootstrap, BootstrapFile>()("runplane/agents/Bootstrap") {
  /** Reads the file that `PROTO_BOOTSTRAP_FILE` or `MACP_BOOTSTRAP_FILE` names. */
  static readonly layer: Layer.Layer<Bootstrap, BootstrapUnreadable, FileSystem.FileSystem> = Layer.effectContext(
    Effect.gen(function* () {
      const named = yield* Config.option(
        Config.String("PROTO_BOOTSTRAP_FILE").pipe(Config.orElse(() => Config.String("MACP_BOOTSTRAP_FILE")))
      ).pipe(Effect.mapError(({ message }) => new BootstrapUnreadable({ message })))
      const path = yield* Option.match(named, {
        onNone: () =>
          new BootstrapUnreadable({ message: "neither PROTO_BOOTSTRAP_FILE nor MACP_BOOTSTRAP_FILE is set" }),
        onSome: Effect.succeed
      })
      const fs = yield* FileSystem.FileSystem
      const read = fs.readFileString(path).pipe(
        Effect.mapError(() => new BootstrapUnreadable({ message: `bootstrap file ${path} cannot be read` })),
        Effect.flatMap(decodeBootstrap)
      )
      const renewed = Effect.orElseSucceed(
        Effect.map(read, (file) => file.auth_token),
        () => undefined
      )
      return Context.make(Bootstrap, Bootstrap.of(yield* read)).pipe(Context.add(RenewedCredential, renewed))
    })
  )

  static readonly layerMemory = (file: BootstrapFile): Layer.Layer<Bootstrap> => Layer.succeed(Bootstrap, file)
}

const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(BootstrapFile), { errors: "all" })

/** Decodes the text of a bootstrap file. The credential it holds never shows up in the failure. */
export const decodeBootstrap = (text: string): Effect.Effect<BootstrapFile, BootstrapUnreadable> =>
  decode(text).pipe(
    Effect.mapError(
      () =>
        new BootstrapUnreadable({
          message: "the bootstrap file lacks a field that every agent needs, or has one of another type"
        })
    )
  )
