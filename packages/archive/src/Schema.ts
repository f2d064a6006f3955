import { type ArchiveColumn, type ArchiveTable, archiveTables } from "@runplane/domain"
import type { SchemaElement } from "hyparquet"

const leaf = (name: string, { isOptional, type }: ArchiveColumn): ReadonlyArray<SchemaElement> => {
  const repetition_type = isOptional ? "OPTIONAL" : "REQUIRED"
  switch (type) {
    case "text":
      return [{ name, repetition_type, type: "BYTE_ARRAY", converted_type: "UTF8" }]
    case "int":
      return [{ name, repetition_type, type: "INT32" }]
    case "long":
      return [{ name, repetition_type, type: "INT64" }]
    case "number":
      return [{ name, repetition_type, type: "DOUBLE" }]
    case "flag":
      return [{ name, repetition_type, type: "BOOLEAN" }]
    case "time":
      return [
        {
          ...{ name, repetition_type, type: "INT64" },
          logical_type: { type: "TIMESTAMP", isAdjustedToUTC: true, unit: "MILLIS" }
        }
      ]
    case "texts":
      return [
        { name, repetition_type, converted_type: "LIST", num_children: 1 },
        { name: "list", repetition_type: "REPEATED", num_children: 1 },
        { name: "element", repetition_type: "REQUIRED", type: "BYTE_ARRAY", converted_type: "UTF8" }
      ]
  }
}

/** The Parquet schema of a table. */
export const schemaOf = (table: ArchiveTable): Array<SchemaElement> => {
  const columns = Object.entries(archiveTables[table])
  return [
    { name: "runplane", num_children: columns.length },
    ...columns.flatMap(([name, column]) => leaf(name, column))
  ]
}
