"""An asyncio server in a thread of its own, so that tests stay plain functions."""

import asyncio
import threading


class Background:
    """serve() runs in the thread's loop; the constructor returns when it has listened. close() ends all that runs there."""

    def __init__(self):
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()
        try:
            self.do(self.serve())
        except BaseException:
            self.close()
            raise

    def _run(self):
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()

    async def serve(self):
        raise NotImplementedError

    def do(self, coroutine, seconds=10):
        """Runs it in the loop, and returns what it returned."""
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(seconds)

    async def _cancel(self):
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def close(self):
        if self.loop.is_closed():
            return
        self.do(self._cancel())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
