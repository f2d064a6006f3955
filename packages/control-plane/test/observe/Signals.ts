import { create, toBinary } from "@bufbuild/protobuf"
import { SignalPayloadSchema } from "@runplane/runtime"

const usage = { model: "vendor1-4o", promptTokens: 1_000_000, completionTokens: 100_000 }

/** An ambient signal about a session. */
export const signal = (sessionId: string, name = "llm.call.completed", data: object = usage) => ({
  messageType: "Signal",
  sessionId: "",
  mode: "",
  sender: "agent://a",
  payload: toBinary(
    SignalPayloadSchema,
    create(SignalPayloadSchema, {
      signalType: name,
      data: new TextEncoder().encode(JSON.stringify(data)),
      confidence: 1,
      correlationSessionId: sessionId
    })
  )
})
