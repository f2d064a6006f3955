import type { Attributes } from "../Span.ts"
import { aiSdk } from "./AiSdk.ts"
import { codingAgents } from "./CodingAgents.ts"
import { delegation } from "./Delegation.ts"
import type { Family, Named } from "./Family.ts"
import { genAi } from "./GenAi.ts"
import { haystack } from "./Haystack.ts"
import { graph } from "./LangGraph.ts"
import { microsoft } from "./Microsoft.ts"
import { openInference } from "./OpenInference.ts"
import { claude, langfuse, mastra } from "./Others.ts"
import { ownTexts } from "./OwnTexts.ts"
import { spanKinds } from "./SpanKinds.ts"
import { spanName } from "./SpanName.ts"
import { traceloop } from "./Traceloop.ts"

/** Families in the order in which they say the kind of a span. A new framework is a file, and an entry here. */
export const FAMILIES: ReadonlyArray<Family> = [
  genAi,
  graph,
  openInference,
  langfuse,
  traceloop,
  aiSdk,
  microsoft,
  mastra,
  haystack,
  claude,
  codingAgents,
  spanKinds,
  ownTexts,
  delegation,
  spanName
]

/** What the first family reads that reads something. */
export const firstOf = <A>(read: (family: Family) => A | undefined): A | undefined => {
  for (const family of FAMILIES) {
    const found = read(family)
    if (found !== undefined) return found
  }
  return undefined
}

/** The attributes that families find inside of others. */
export const detailsOf = (span: Named): Attributes =>
  Object.assign({}, ...FAMILIES.map(({ details }) => details?.(span) ?? {}))
