import type * as PgClient from "@effect/sql-pg/PgClient"
import type { ColumnType, QueryColumn, QueryMeaning } from "../../platform/postgres/search/QueryConditions.ts"

const COLUMNS: Readonly<Record<string, readonly [type: ColumnType, column: string]>> = {
  seq: ["integer", "e.seq"],
  runId: ["uuid", "e.run_id"],
  type: ["text", "e.type"],
  ts: ["time", "e.ts"],
  index: ["integer", "e.index"],
  subjectKind: ["text", "(e.event #>> '{subject,kind}')"],
  subjectId: ["text", "(e.event #>> '{subject,id}')"],
  sourceKind: ["text", "(e.event #>> '{source,kind}')"],
  sourceName: ["text", "(e.event #>> '{source,name}')"],
  sender: ["text", "(e.event #>> '{data,sender}')"],
  messageType: ["text", "(e.event #>> '{data,messageType}')"]
}

const ASCII = /^[\u0000-\u007f]*$/

const OF_RUN: Readonly<Record<string, readonly [type: ColumnType, column: string]>> = {
  scenarioRef: ["folded", "r.scenario_ref"],
  sourceRef: ["text", "r.source_ref"],
  environment: ["text", "r.environment"],
  tags: ["among", "r.tags"]
}

/** What the fields of `eventQueryFields` mean for a row of `canonical_events` with the name `e`. */
export const eventMeaning = (sql: PgClient.PgClient): QueryMeaning => ({
  column: (field, path): QueryColumn => {
    if (field === "data") {
      return { type: "text", where: (test) => test(sql`(e.event #>> ${["data", ...path.split(".")]}::text[])`) }
    }
    const plain = COLUMNS[field]
    if (plain !== undefined) return { type: plain[0], where: (test) => test(sql.literal(plain[1])) }
    const ofRun = OF_RUN[field]
    if (ofRun === undefined) throw new Error(`the field ${field} of events has no column`)
    const [type, column] = ofRun
    return {
      type,
      where: (test) => sql`EXISTS (SELECT FROM runs r WHERE r.id = e.run_id AND ${test(sql.literal(column))})`,
      ...(type === "among" && { has: (tags) => sql`cardinality(${tags}) > 0` })
    }
  },
  // As it stands in the text of the event, which is JSON. ASCII needs no more than lower(), which takes a fraction of
  // the time.
  search: (text) => {
    const part = sql`${JSON.stringify(text).slice(1, -1)}::text`
    return ASCII.test(text)
      ? sql`strpos(lower(e.event::text), lower(${part})) > 0`
      : sql`strpos(fold_text(e.event::text), fold_text(${part})) > 0`
  }
})
