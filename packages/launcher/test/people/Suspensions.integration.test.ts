import { Sandbox } from "@runplane/sandbox"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { suspensionSuite } from "./SuspensionSuite.ts"

suspensionSuite(
  "the sandbox",
  Effect.map(Layer.build(Sandbox.layer({ port: 0 })), (context) => Context.get(context, Sandbox).address)
)
