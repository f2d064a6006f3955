import type { Page } from "playwright-core"
import { ask, CONTROL_PLANE, tokenFor } from "./Stage.ts"

const created = ({ status, text }: { readonly status: number; readonly text: string }) => {
  if (status >= 300) throw new Error(`refused: ${status} ${text}`)
}

export const define = async (name: string, definition: object) =>
  created(await ask("PUT", `${CONTROL_PLANE}/marks/definitions/${name}`, definition))

export const addMark = async (run: string, mark: object) =>
  created(await ask("POST", `${CONTROL_PLANE}/runs/${run}/marks`, mark))

/** A mark of another caller than the one of the pages. */
export const addMarkOfAnn = async (run: string, mark: object) => {
  const headers = { authorization: `Bearer ${tokenFor(600)}`, "content-type": "application/json" }
  const answer = await fetch(`${CONTROL_PLANE}/runs/${run}/marks`, {
    method: "POST",
    headers,
    body: JSON.stringify(mark)
  })
  created({ status: answer.status, text: await answer.text() })
}

export const marksOf = async (
  run: string,
  name: string
): Promise<ReadonlyArray<{ value: unknown; comment?: string }>> =>
  (await ask("GET", `${CONTROL_PLANE}/runs/${run}/marks?name=${name}`)).body.data

export const stored = (page: Page, state: string) => page.locator(`[data-stored="${state}"]`).waitFor()

/** Presses the key of a value as soon as the page offers the value. */
export const pressChoice = async (page: Page, key: string) => {
  await page.locator("button kbd").getByText(key, { exact: true }).waitFor()
  await page.keyboard.press(key)
}

/** Answers reads of the marks of a run with one mark of an event. */
export const serveMark = (page: Page, run: string, event: { readonly id: string; readonly index: number }) => {
  const mark = {
    id: crypto.randomUUID(),
    runId: run,
    target: { kind: "event", id: event.id },
    index: event.index,
    name: "odd",
    value: true,
    comment: "far back",
    source: "human",
    author: "ann",
    createdAt: new Date().toISOString()
  }
  return page.route(`${CONTROL_PLANE}/runs/${run}/marks?*`, (route) =>
    route.fulfill({ json: { data: [mark], total: 1, limit: 500, offset: 0 } })
  )
}
