#include "transfer/patient_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <vector>

#include "store/empty_store.h"

namespace postino::transfer {
namespace {

using store::ErrorType;
using testing::ElementsAre;

// Refuses what comes as the test says, and takes the rest.
class RefusingStore final : public store::EmptyStore {
 public:
  using store::EmptyStore::put_item;
  using store::EmptyStore::transact_write_items;

  std::deque<ErrorType> refusals;
  int calls = 0;

  store::Answer<store::WriteItemResponse> put_item(const store::PutItemRequest&) override {
    return answer<store::WriteItemResponse>();
  }
  store::Answer<store::PageResponse> scan(const store::ScanRequest&) override { return answer<store::PageResponse>(); }
  store::Answer<store::TransactWriteItemsResponse> transact_write_items(
      const store::TransactWriteItemsRequest&) override {
    return answer<store::TransactWriteItemsResponse>();
  }

 private:
  template <class Response>
  store::Answer<Response> answer() {
    ++calls;
    if (refusals.empty()) return Response();
    const ErrorType type = refusals.front();
    refusals.pop_front();
    return store::refuse(type, std::string(store::error_name(type)));
  }
};

class PatientStoreTest : public testing::Test {
 protected:
  PatientStoreTest() {
    Patience patience;
    patience.longest = std::chrono::minutes(10);
    patience.sleep = [this](base::Milliseconds time) { clock_.advance(time); };
    patience.tell = [this](const std::string& cause) { told_.push_back(cause); };
    patient_ = std::make_unique<PatientStore>(refusing_, std::move(patience), clock_, random_);
  }

  base::ManualClock clock_{base::TimePoint(std::chrono::hours(1))};
  base::SeededRandom random_{7};
  RefusingStore refusing_;
  std::vector<std::string> told_;
  std::unique_ptr<PatientStore> patient_;
};

TEST_F(PatientStoreTest, WaitsWhileTheStoreIsThrottledOrAway) {
  refusing_.refusals = {ErrorType::provisioned_throughput_exceeded, ErrorType::throttling,
                        ErrorType::request_limit_exceeded, ErrorType::service_unavailable};
  EXPECT_TRUE(patient_->transact_write_items({}));
  EXPECT_EQ(refusing_.calls, 5);
  EXPECT_THAT(told_, ElementsAre("ProvisionedThroughputExceededException")) << "once for all of it";
  refusing_.refusals = {ErrorType::throttling};
  EXPECT_TRUE(patient_->scan({}));
  EXPECT_THAT(told_, ElementsAre("ProvisionedThroughputExceededException", "ThrottlingException"));
}

TEST_F(PatientStoreTest, GivesUpWhenNothingHasWorkedForTenMinutes) {
  refusing_.refusals.assign(1'000, ErrorType::service_unavailable);
  const base::Milliseconds begun = clock_.monotonic();
  const auto answer = patient_->scan({});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().type, ErrorType::service_unavailable);
  EXPECT_GE(clock_.monotonic() - begun, std::chrono::minutes(10));
  EXPECT_LT(clock_.monotonic() - begun, std::chrono::minutes(11));
  const int calls = refusing_.calls;
  EXPECT_FALSE(patient_->scan({})) << "and others do not begin to wait again";
  EXPECT_EQ(refusing_.calls, calls + 1);
}

TEST_F(PatientStoreTest, DoesNotRepeatWhatMayHaveBeenDone) {
  store::PutItemRequest conditional;
  conditional.condition = "attribute_not_exists(pk)";
  refusing_.refusals = {ErrorType::internal_server_error};
  EXPECT_FALSE(patient_->put_item(conditional));
  refusing_.refusals = {ErrorType::internal_server_error};
  EXPECT_FALSE(patient_->transact_write_items({}));
  EXPECT_EQ(refusing_.calls, 2);

  refusing_.refusals = {ErrorType::internal_server_error};
  EXPECT_TRUE(patient_->put_item({})) << "done twice it leaves the same";
  refusing_.refusals = {ErrorType::internal_server_error};
  EXPECT_TRUE(patient_->scan({}));
}

TEST_F(PatientStoreTest, TellsOfWhatIsWrongWithTheRequestAtOnce) {
  for (const ErrorType type : {ErrorType::validation, ErrorType::resource_not_found,
                               ErrorType::conditional_check_failed, ErrorType::access_denied}) {
    refusing_.refusals = {type};
    EXPECT_FALSE(patient_->put_item({}));
  }
  EXPECT_EQ(refusing_.calls, 4);
  EXPECT_TRUE(told_.empty());
}

}  // namespace
}  // namespace postino::transfer
