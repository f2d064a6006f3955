import * as OpenApi from "effect/http-api/OpenApi"
import { ControlPlaneApi } from "../src/control-plane/ControlPlaneApi.ts"
import { JSON_LINES_CONTENT_TYPE } from "../src/control-plane/exports/RunBundle.ts"
import { type Completion, complete } from "./Completion.ts"
import { controlPlaneAnswers } from "./ControlPlaneAnswers.ts"
import { declaredFailures } from "./ErrorResponses.ts"
import {
  agUiStream,
  backtestLines,
  exportLines,
  itemSchemas,
  logStream,
  replayStream,
  runStream
} from "./EventStreams.ts"
import type { Examples } from "./Examples.ts"
import recorded from "./examples/control-plane.json" with { type: "json" }
import { controlPlaneIntroduction } from "./Introductions.ts"
import { cancelCallback, outgoingSchemas, receiversTag, webhooks } from "./Outgoing.ts"

const EVENT_STREAM = "text/event-stream"

const examples: Examples = recorded

const completion: Completion = {
  answers: controlPlaneAnswers,
  declared: declaredFailures(ControlPlaneApi),
  examples,
  streams: {
    streamRun: { [EVENT_STREAM]: runStream },
    streamEvents: { [EVENT_STREAM]: logStream },
    followRunAsAgUi: { [EVENT_STREAM]: agUiStream },
    runAsAgUi: { [EVENT_STREAM]: agUiStream },
    streamReplay: { [EVENT_STREAM]: replayStream },
    exportRun: { [JSON_LINES_CONTENT_TYPE]: exportLines },
    backtestPolicy: { [JSON_LINES_CONTENT_TYPE]: backtestLines }
  },
  callbacks: { createRun: cancelCallback },
  webhooks,
  tags: [receiversTag],
  schemas: (declared) => ({ ...itemSchemas(declared), ...outgoingSchemas }),
  countsRefused: false
}

/**
 * The API with everything its document says. Apart from `ControlPlaneApi`, because servers and clients can do without.
 */
export const DocumentedControlPlane = ControlPlaneApi.annotateMerge(
  OpenApi.annotations({
    description: controlPlaneIntroduction(controlPlaneAnswers),
    transform: complete(completion)
  })
)
