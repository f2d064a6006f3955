export default function RunPage({ runId }: { readonly runId: string }) {
  return <p>{runId}</p>
}
