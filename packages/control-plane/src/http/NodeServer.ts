import { createServer, type Server } from "node:http"
import { answerRefusals, controlPlaneForm, lenientServerOptions } from "@runplane/api"

/** A Node.js server whose own refusals have the error form of the service (http-details section 3.2). */
export const makeNodeServer = (): Server => {
  const server = createServer(lenientServerOptions)
  answerRefusals(server, controlPlaneForm)
  return server
}
