import * as OpenApi from "effect/http-api/OpenApi"
import { DocumentedControlPlane } from "./ControlPlaneDocument.ts"
import { DocumentedLauncher } from "./LauncherDocument.ts"

/**
 * The OpenAPI documents of both services, by the file that holds them. Always the same text for the same declarations.
 */
export const openApiDocuments = (): Readonly<Record<string, string>> => ({
  "control-plane.json": textOf(OpenApi.fromApi(DocumentedControlPlane)),
  "launcher.json": textOf(OpenApi.fromApi(DocumentedLauncher))
})

const textOf = (document: OpenApi.OpenAPISpec) => `${JSON.stringify(document, null, 2)}\n`
