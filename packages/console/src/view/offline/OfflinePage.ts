const RUN_GOES_HERE = "<!--exported-run-->"

/**
 * The page that shows a run without a service: the template of the build with the record of the run and its export as
 * JSON. The texts of agents cannot become markup, because the JSON has no `<` left.
 */
export const offlinePage = (template: string, id: string, record: string, bundle: string): string => {
  if (!template.includes(RUN_GOES_HERE)) throw new Error("the template of the page has another form")
  const json = `{"record":${record},"bundle":${bundle}}`.replaceAll("<", "\\u003c")
  const element = `<script type="application/json" id="${id}">${json}</script>`
  return template.replace(RUN_GOES_HERE, () => element)
}
