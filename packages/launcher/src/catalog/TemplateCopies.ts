import * as Order from "effect/Order"
import { isJsonObject, type Json } from "../common/Json.ts"
import type { PackFault } from "./PackFault.ts"

interface TemplateFile {
  /** Its path relative to PACKS_DIR. */
  readonly file: string
  readonly document?: Json | undefined
}

/**
 * Template files with the original of each slug before its copies (docs/internals/launch.md#templates): the file that
 * is named like its slug, else the shortest name. The name of a copy ("a copy.yaml", "a (1).yaml", "Copy of a.yaml") is
 * longer, and sorts before or after the original.
 */
export const originalsFirst = <A extends TemplateFile>(files: ReadonlyArray<A>): ReadonlyArray<A> =>
  files.toSorted(byOriginality)

const byOriginality: Order.Order<TemplateFile> = Order.combineAll([
  Order.mapInput(Order.Boolean, ({ document, file }: TemplateFile) => stemOf(file) !== slugOf(document)),
  Order.mapInput(Order.Number, ({ file }: TemplateFile) => file.length),
  Order.mapInput(Order.String, ({ file }: TemplateFile) => file)
])

const stemOf = (file: string): string => file.replace(/^.*[/\\]/, "").replace(/\.ya?ml$/, "")

const slugOf = (document: Json | undefined): Json | undefined => {
  const metadata = isJsonObject(document) ? document["metadata"] : undefined
  return isJsonObject(metadata) ? metadata["slug"] : undefined
}

/** What the service and the tools say of a copy, which is left out. */
export const copyFault = (slug: string, original: string): PackFault => ({
  level: "error",
  at: ["metadata", "slug"],
  message: `left out: ${original} has the metadata.slug "${slug}" too; give the copy a slug of its own, or remove it`
})
