import { ShadowActs } from "@runplane/domain"
import { bodySchema } from "../../validation/RequestSchema.ts"

/** The content of an artifact of the kind `shadow.acts`, as the launch service sends it. */
export const shadowActsContent = bodySchema(ShadowActs, { unknownKeys: "reject" })
