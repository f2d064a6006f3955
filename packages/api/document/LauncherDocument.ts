import * as OpenApi from "effect/http-api/OpenApi"
import { reasonPhrases } from "../src/errors/ReasonPhrases.ts"
import { LauncherApi } from "../src/launcher/LauncherApi.ts"
import { type Completion, complete } from "./Completion.ts"
import { declaredFailures } from "./ErrorResponses.ts"
import type { Examples } from "./Examples.ts"
import recorded from "./examples/launcher.json" with { type: "json" }
import { launcherIntroduction } from "./Introductions.ts"
import { launcherAnswers } from "./LauncherAnswers.ts"

const examples: Examples = recorded

/** The form of the HTTP framework, of an answer that no endpoint declares. */
const frameworkAnswer = (status: keyof typeof reasonPhrases, description: string) => ({
  type: "object",
  description,
  properties: {
    message: { type: "string", description: "What is wrong" },
    error: { type: "string", enum: [reasonPhrases[status]], description: "The reason phrase of the status" },
    statusCode: { type: "integer", enum: [status], description: "The HTTP status" }
  },
  required: ["message", "error", "statusCode"],
  additionalProperties: false
})

const completion: Completion = {
  answers: launcherAnswers,
  declared: declaredFailures(LauncherApi),
  examples,
  schemas: () => ({
    OversizedBody: frameworkAnswer(413, "The body is over 1 MB"),
    IssuerUnavailable: frameworkAnswer(503, "A token cannot be checked now")
  }),
  countsRefused: true
}

/** The API with everything its document says. Apart from `LauncherApi`, because servers and clients can do without. */
export const DocumentedLauncher = LauncherApi.annotateMerge(
  OpenApi.annotations({
    description: launcherIntroduction(launcherAnswers),
    transform: complete(completion)
  })
)
