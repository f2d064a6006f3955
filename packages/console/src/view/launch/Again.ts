import type { CanonicalEvent } from "@runplane/domain"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { sessionContext } from "../run/SessionContext.ts"

const Metadata = Schema.Struct({
  sourceRef: Schema.optionalKey(Schema.String),
  templateId: Schema.optionalKey(Schema.String),
  runLabel: Schema.optionalKey(Schema.String)
})
const readMetadata = Schema.decodeUnknownOption(Metadata)
const REFERENCE = /^(.+?)\/([^/@]+)@([^@]+)$/

/** What a run was launched from. */
export interface Origin {
  /** `pack/scenario` */
  readonly scenario: string
  readonly version: string
  readonly template: string
  readonly label: string
}

/** Undefined for a run that no launch service made. */
export const originOf = (metadata: Schema.JsonObject): Origin | undefined => {
  const {
    runLabel = "",
    sourceRef = "",
    templateId = ""
  } = Option.getOrElse(readMetadata(metadata), (): typeof Metadata.Type => ({}))
  const parts = REFERENCE.exec(sourceRef)
  if (parts === null) return undefined
  return {
    scenario: `${parts[1]}/${parts[2]}`,
    version: parts[3] ?? "",
    // The launch service records this name when the launch names no template.
    template: templateId === "default" ? "" : templateId,
    label: runLabel
  }
}

/**
 * Inputs of a launch as far as the run's log has them: the context of its session has them under the same names. Inputs
 * that it does not have are left out.
 */
export const inputsOf = (events: Iterable<CanonicalEvent>, names: ReadonlyArray<string>): Schema.JsonObject => {
  const context = sessionContext(events)
  if (context === undefined) return {}
  return Object.fromEntries(
    names.flatMap((name) => {
      const member = Object.hasOwn(context, name) ? context[name] : undefined
      return member === undefined ? [] : [[name, member]]
    })
  )
}
