import { numberParam, textParam, type ValuesOf, wordParam } from "../../view/UrlState.ts"

/** The state of the page, all of it in its address: the endpoint, and which of its deliveries. */
export const webhookParams = {
  id: textParam,
  status: wordParam(["any", "pending", "delivered", "failed"]),
  delivery: textParam,
  page: numberParam(1)
}
export type WebhooksState = ValuesOf<typeof webhookParams>
