import { fromBinary } from "@bufbuild/protobuf"
import { assert, describe, it } from "@effect/vitest"
import { encodeExportAnswer, encodeStatus } from "../src/index.ts"
import { ExportLogsServiceResponseSchema } from "./gen/opentelemetry/proto/collector/logs/v1/logs_service_pb.ts"
import { ExportTraceServiceResponseSchema } from "./gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.ts"

const textOf = (bytes: Uint8Array) => JSON.parse(new TextDecoder().decode(bytes))

describe("an answer", () => {
  it("is empty when everything was accepted", () => {
    assert.lengthOf(encodeExportAnswer("traces", "protobuf"), 0)
    assert.deepStrictEqual(textOf(encodeExportAnswer("logs", "json")), {})
  })

  it("says how many were rejected, and why", () => {
    const partial = { rejected: 3, message: "a span has no valid trace id" }
    const traces = fromBinary(ExportTraceServiceResponseSchema, encodeExportAnswer("traces", "protobuf", partial))
    assert.deepInclude(traces.partialSuccess, { rejectedSpans: 3n, errorMessage: partial.message })
    const logs = fromBinary(ExportLogsServiceResponseSchema, encodeExportAnswer("logs", "protobuf", partial))
    assert.deepInclude(logs.partialSuccess, { rejectedLogRecords: 3n, errorMessage: partial.message })
    assert.deepStrictEqual(textOf(encodeExportAnswer("metrics", "json", partial)), {
      partialSuccess: { rejectedDataPoints: "3", errorMessage: partial.message }
    })
  })

  it("of a refusal is a status with its code and message", () => {
    assert.deepStrictEqual(textOf(encodeStatus("json", 413, "too large")), { code: 3, message: "too large" })
    assert.deepStrictEqual(
      [...encodeStatus("protobuf", 503, "full")],
      [0x08, 14, 0x12, 4, ...new TextEncoder().encode("full")]
    )
  })
})
