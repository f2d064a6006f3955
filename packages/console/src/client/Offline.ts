/** The element of a page that has an exported run as JSON. */
export const EXPORTED_RUN = "exported-run"

/** Whether the page shows an exported run, without a service. */
export const isOffline = document.getElementById(EXPORTED_RUN) !== null
