import type { DuckDBType, DuckDBValue, DuckDBValueConverter, Json } from "@duckdb/node-api"

/** Numbers of so many digits are the same after a way through a double. */
const EXACT_DIGITS = 15

/**
 * How values become JSON: numbers where a double holds them exactly, else texts with all digits; times of a zone in
 * ISO 8601 and UTC. `rest` is for the types that are not numbers.
 */
export const converterOf = (rest: DuckDBValueConverter<Json>, decimals: (type: DuckDBType) => boolean) => {
  const convert: DuckDBValueConverter<Json> = (value: DuckDBValue, type: DuckDBType, self) => {
    if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
    if (typeof value === "number") return Number.isFinite(value) ? value : String(value)
    const converted = rest(value, type, self)
    if (typeof converted !== "string") return converted
    if (decimals(type)) return converted.replace(/\D/g, "").length <= EXACT_DIGITS ? Number(converted) : converted
    const [, day, time, fraction = ""] = IN_UTC.exec(converted) ?? []
    return day !== undefined && String(type) === ZONED ? `${day}T${time}.${fraction.padEnd(3, "0")}Z` : converted
  }
  return convert
}

const ZONED = "TIMESTAMP WITH TIME ZONE"
const IN_UTC = /^(-?\d{4,6}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2})(?:\.(\d+))?\+00$/
